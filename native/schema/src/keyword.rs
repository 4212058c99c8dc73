//! The table of keywords: what each holds and which instance value it looks at.

use serde_json::Value;

use crate::{Dialect, pointer};

/// One keyword of the dialects.
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    holds: Holds,
    pub(crate) applies: Applies,
    known: Known,
}

/// Where the subschemas of a keyword stand in its value.
enum Holds {
    /// It holds none.
    Nothing,
    /// The value is one.
    Schema,
    /// The value is a list of them.
    Schemas,
    /// The value is one or a list of them.
    SchemaOrSchemas,
    /// The value is an object of them.
    Members,
}

/// Which instance value a keyword evaluates.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Applies {
    /// The value its own schema is applied to.
    Here,
    /// Values inside that one.
    Below,
    /// None: an annotation, an identifier, a shelf for definitions.
    Nowhere,
}

/// The dialects that know a keyword.
enum Known {
    Both,
    Draft202012,
    Draft07,
}

impl Keyword {
    /// The keyword called `name` in `dialect`.
    pub(crate) fn find(name: &str, dialect: Dialect) -> Option<&'static Self> {
        let at = KEYWORDS
            .binary_search_by(|keyword| keyword.name.cmp(name))
            .ok()?;
        let keyword = &KEYWORDS[at];
        let known = match keyword.known {
            Known::Both => true,
            Known::Draft202012 => dialect == Dialect::Draft202012,
            Known::Draft07 => dialect == Dialect::Draft07,
        };
        known.then_some(keyword)
    }

    /// The subschemas in this keyword's `value`, each with its pointer; `parent` points at the schema
    /// that the keyword is a member of.
    pub(crate) fn subschemas<'a>(
        &self,
        parent: &str,
        value: &'a Value,
    ) -> Vec<(String, &'a Value)> {
        let place = || pointer::join(parent, self.name);
        match (&self.holds, value) {
            (Holds::Schema | Holds::SchemaOrSchemas, Value::Object(_) | Value::Bool(_)) => {
                vec![(place(), value)]
            }
            (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(items)) => {
                let place = place();
                let numbered = items.iter().enumerate();
                numbered
                    .map(|(index, item)| (format!("{place}/{index}"), item))
                    .collect()
            }
            (Holds::Members, Value::Object(members)) => {
                let place = place();
                // `dependencies` may hold lists of names among its schemas.
                let schemas = members.iter().filter(|(_, member)| !member.is_array());
                schemas
                    .map(|(name, member)| (pointer::join(&place, name), member))
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

const fn row(name: &'static str, holds: Holds, applies: Applies, known: Known) -> Keyword {
    Keyword {
        name,
        holds,
        applies,
        known,
    }
}

/// Sorted by name. A keyword that holds nothing and applies nowhere needs no row.
#[rustfmt::skip]
static KEYWORDS: [Keyword; 44] = {
    use Applies::{Below, Here, Nowhere};
    use Holds::{Members, Nothing, Schema, SchemaOrSchemas, Schemas};
    use Known::{Both, Draft07, Draft202012};
    [
        row("$defs", Members, Nowhere, Draft202012),
        row("$dynamicRef", Nothing, Here, Draft202012),
        row("$ref", Nothing, Here, Both),
        row("additionalItems", Schema, Below, Draft07),
        row("additionalProperties", Schema, Below, Both),
        row("allOf", Schemas, Here, Both),
        row("anyOf", Schemas, Here, Both),
        row("const", Nothing, Here, Both),
        row("contains", Schema, Below, Both),
        row("contentEncoding", Nothing, Here, Draft07),
        row("contentMediaType", Nothing, Here, Draft07),
        row("contentSchema", Schema, Nowhere, Draft202012),
        row("definitions", Members, Nowhere, Both),
        row("dependencies", Members, Here, Both),
        row("dependentRequired", Nothing, Here, Draft202012),
        row("dependentSchemas", Members, Here, Draft202012),
        row("else", Schema, Here, Both),
        row("enum", Nothing, Here, Both),
        row("exclusiveMaximum", Nothing, Here, Both),
        row("exclusiveMinimum", Nothing, Here, Both),
        row("if", Schema, Here, Both),
        row("items", SchemaOrSchemas, Below, Both),
        row("maxItems", Nothing, Here, Both),
        row("maxLength", Nothing, Here, Both),
        row("maxProperties", Nothing, Here, Both),
        row("maximum", Nothing, Here, Both),
        row("minItems", Nothing, Here, Both),
        row("minLength", Nothing, Here, Both),
        row("minProperties", Nothing, Here, Both),
        row("minimum", Nothing, Here, Both),
        row("multipleOf", Nothing, Here, Both),
        row("not", Schema, Here, Both),
        row("oneOf", Schemas, Here, Both),
        row("pattern", Nothing, Here, Both),
        row("patternProperties", Members, Below, Both),
        row("prefixItems", Schemas, Below, Draft202012),
        row("properties", Members, Below, Both),
        row("propertyNames", Schema, Below, Both),
        row("required", Nothing, Here, Both),
        row("then", Schema, Here, Both),
        row("type", Nothing, Here, Both),
        row("unevaluatedItems", Schema, Below, Draft202012),
        row("unevaluatedProperties", Schema, Below, Draft202012),
        row("uniqueItems", Nothing, Here, Both),
    ]
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{KEYWORDS, Keyword};
    use crate::Dialect;

    #[test]
    fn the_table_is_sorted() {
        assert!(KEYWORDS.is_sorted_by(|one, next| one.name < next.name));
    }

    #[test]
    fn a_keyword_belongs_to_its_dialects() {
        for (name, new, old) in [
            ("prefixItems", true, false),
            ("additionalItems", false, true),
            ("allOf", true, true),
            ("title", false, false),
            ("nullable", false, false),
        ] {
            assert_eq!(
                Keyword::find(name, Dialect::Draft202012).is_some(),
                new,
                "{name}"
            );
            assert_eq!(
                Keyword::find(name, Dialect::Draft07).is_some(),
                old,
                "{name}"
            );
        }
    }

    #[test]
    fn subschemas_stand_where_the_keyword_puts_them() {
        let pointers = |name: &str, value| -> Vec<String> {
            let keyword = Keyword::find(name, Dialect::Draft07).expect(name);
            keyword
                .subschemas("/x", &value)
                .into_iter()
                .map(|(pointer, _)| pointer)
                .collect()
        };
        assert_eq!(pointers("not", json!({})), ["/x/not"]);
        assert_eq!(pointers("not", json!(true)), ["/x/not"]);
        assert_eq!(
            pointers("allOf", json!([{}, {}])),
            ["/x/allOf/0", "/x/allOf/1"]
        );
        assert_eq!(pointers("items", json!({})), ["/x/items"]);
        assert_eq!(pointers("items", json!([{}])), ["/x/items/0"]);
        assert_eq!(
            pointers("properties", json!({"a/b": {}})),
            ["/x/properties/a~1b"]
        );
        assert_eq!(
            pointers("dependencies", json!({"a": ["b"], "c": {}})),
            ["/x/dependencies/c"]
        );
        assert_eq!(pointers("type", json!({})), [""; 0]);
        assert_eq!(pointers("properties", json!(5)), [""; 0]);
    }
}
