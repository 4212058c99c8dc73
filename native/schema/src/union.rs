//! Tagged unions, rewritten so that their faults are those of the alternative that was meant.
//!
//! The validator explains `anyOf` and `oneOf` by all faults of all alternatives, which doubles and worse
//! with each level of a recursive schema. Where the type of a value or a constant in it tells which
//! alternative it belongs to, the same can be said with `if` and `then`:
//!
//! ```text
//! {"anyOf": [{"type": "null"}, {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "a"}}}, …]}
//! ```
//!
//! becomes "if it is null, then …; if it is an object of kind a, then …; and it is null or an object of a
//! known kind".

use serde_json::{Map, Value, json};

use crate::{Dialect, document::Document};

/// References that are followed to see what an alternative is.
const MAX_REFERENCES: usize = 8;

/// `document` with its tagged unions rewritten; nothing when it has none. It admits the same instances.
pub(crate) fn rewritten(document: &Value, parts: &mut Document<'_>) -> Option<Value> {
    let places: Vec<String> = parts
        .subschemas()
        .iter()
        .map(|subschema| subschema.pointer.clone())
        .collect();
    if places.is_empty() || points_into_unions(parts) {
        return None;
    }
    let mut unions = Vec::new();
    for (number, place) in places.into_iter().enumerate() {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(union) = Union::of(parts, number, keyword) {
                unions.push((place.clone(), keyword, union));
            }
        }
    }
    let mut rewritten = document.clone();
    // Schemas are numbered before those inside them; from the last one on, pointers stay right.
    for (place, keyword, union) in unions.iter().rev() {
        let schema = rewritten.pointer_mut(place)?.as_object_mut()?;
        union.replace(schema, keyword)?;
    }
    (!unions.is_empty()).then_some(rewritten)
}

/// A reference to an alternative itself would lose its target.
fn points_into_unions(parts: &Document<'_>) -> bool {
    parts.subschemas().iter().any(|subschema| {
        let reference = subschema
            .value
            .get("$ref")
            .and_then(Value::as_str)
            .unwrap_or_default();
        reference.contains("/anyOf/") || reference.contains("/oneOf/")
    })
}

/// What tells the alternatives of one keyword apart.
struct Union {
    /// For each alternative, the type and the values of the tag that only it admits.
    alternatives: Vec<Alternative>,
    /// The property whose value tells objects apart, when several alternatives are objects.
    tag: Option<String>,
}

#[derive(Clone)]
struct Alternative {
    kind: String,
    values: Vec<Value>,
}

impl Union {
    fn of(parts: &mut Document<'_>, number: usize, keyword: &str) -> Option<Self> {
        let schema = parts.subschemas()[number].value.as_object()?;
        if parts.dialect() == Dialect::Draft07 && schema.contains_key("$ref") {
            return None;
        }
        let branches = schema.get(keyword)?.as_array()?;
        let branches: Vec<&Map<String, Value>> = branches
            .iter()
            .map(|branch| target(parts, branch))
            .collect::<Option<_>>()?;
        let objects = branches
            .iter()
            .filter(|branch| kind(branch) == Some("object"));
        let objects: Vec<_> = objects.copied().collect();
        let tag = if objects.len() > 1 {
            Some(tag(&objects)?)
        } else {
            None
        };
        let alternatives: Vec<_> = branches
            .into_iter()
            .map(|branch| Alternative::of(branch, tag.as_deref()))
            .collect::<Option<_>>()?;
        let is_exclusive = alternatives.iter().enumerate().all(|(index, one)| {
            alternatives[..index]
                .iter()
                .all(|other| one.excludes(other))
        });
        is_exclusive.then_some(Self { alternatives, tag })
    }

    /// Puts the rewritten union in the place of `keyword`.
    fn replace(&self, schema: &mut Map<String, Value>, keyword: &str) -> Option<()> {
        let branches = schema.shift_remove(keyword)?;
        let Value::Array(branches) = branches else {
            return None;
        };
        let cases = self.alternatives.iter().zip(branches);
        let cases = cases.map(|(alternative, branch)| {
            let case = self.condition(std::slice::from_ref(alternative));
            Value::from_iter([("if", case), ("then", branch)])
        });
        let all = schema
            .entry("allOf")
            .or_insert_with(|| json!([]))
            .as_array_mut()?;
        all.push(self.condition(&self.alternatives));
        all.extend(cases);
        Some(())
    }

    /// A schema for what belongs to one of `alternatives`.
    fn condition(&self, alternatives: &[Alternative]) -> Value {
        let mut kinds: Vec<&str> = Vec::new();
        for alternative in alternatives {
            if !kinds.contains(&alternative.kind.as_str()) {
                kinds.push(&alternative.kind);
            }
        }
        let mut condition = Map::from_iter([("type".to_owned(), json!(kinds))]);
        if let (Some(tag), true) = (&self.tag, kinds.contains(&"object")) {
            let values: Vec<_> = alternatives
                .iter()
                .flat_map(|one| one.values.clone())
                .collect();
            let values = Value::from_iter([("enum", Value::from(values))]);
            condition.insert("required".to_owned(), json!([tag]));
            condition.insert(
                "properties".to_owned(),
                Value::from_iter([(tag.as_str(), values)]),
            );
        }
        Value::from(condition)
    }
}

impl Alternative {
    fn of(branch: &Map<String, Value>, tag: Option<&str>) -> Option<Self> {
        let kind = kind(branch)?.to_owned();
        let values = match tag {
            Some(tag) if kind == "object" => constants(branch, tag)?,
            _ => Vec::new(),
        };
        Some(Self { kind, values })
    }

    fn excludes(&self, other: &Self) -> bool {
        if self.kind == "object" && other.kind == "object" {
            return self
                .values
                .iter()
                .all(|value| !other.values.contains(value));
        }
        let is_number = |kind: &str| kind == "number" || kind == "integer";
        self.kind != other.kind && !(is_number(&self.kind) && is_number(&other.kind))
    }
}

/// The schema that `branch` is, or that it refers to.
fn target<'a>(parts: &mut Document<'a>, branch: &Value) -> Option<&'a Map<String, Value>> {
    let mut number = parts.number(branch)?;
    for _ in 0..MAX_REFERENCES {
        let members = parts.subschemas()[number].value.as_object()?;
        let Some(reference) = members.get("$ref").and_then(Value::as_str) else {
            return Some(members);
        };
        let targets = parts.resolve(number, "$ref", reference).ok()?;
        let [target] = targets.as_slice() else {
            return None;
        };
        number = *target;
    }
    None
}

fn kind(branch: &Map<String, Value>) -> Option<&str> {
    branch.get("type")?.as_str()
}

/// The first property that each of `objects` requires to be one of some strings.
fn tag(objects: &[&Map<String, Value>]) -> Option<String> {
    let first = objects.first()?.get("properties")?.as_object()?;
    let is_tag = |name: &&String| {
        objects
            .iter()
            .all(|object| constants(object, name).is_some())
    };
    first.keys().find(is_tag).cloned()
}

/// The strings that `object` admits for the property `name`, if it requires one of some.
fn constants(object: &Map<String, Value>, name: &str) -> Option<Vec<Value>> {
    let required = object.get("required")?.as_array()?;
    if !required.iter().any(|required| required == name) {
        return None;
    }
    let property = object.get("properties")?.get(name)?;
    let values = match (property.get("const"), property.get("enum")) {
        (Some(value), _) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return None,
    };
    values.iter().all(Value::is_string).then_some(values)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::rewritten;
    use crate::{Dialect, document::Document};

    fn rewrite(document: &Value) -> Option<Value> {
        let mut parts = Document::read(document, Dialect::Draft202012).expect("names are fine");
        rewritten(document, &mut parts)
    }

    #[test]
    fn types_and_tags_become_conditions() {
        let row = json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": "row"}}});
        let cell = json!({"type": "object", "required": ["kind"], "properties": {"kind": {"enum": ["a", "b"]}}});
        let document = json!({"title": "T", "oneOf": [{"type": "null"}, {"$ref": "#/$defs/row"}, cell],
            "$defs": {"row": row}});
        let tagged = |values: Value| json!({"type": ["object"], "required": ["kind"], "properties": {"kind": {"enum": values}}});
        assert_eq!(
            rewrite(&document),
            Some(json!({
                "title": "T",
                "$defs": {"row": row},
                "allOf": [
                    {"type": ["null", "object"], "required": ["kind"],
                        "properties": {"kind": {"enum": ["row", "a", "b"]}}},
                    {"if": {"type": ["null"]}, "then": {"type": "null"}},
                    {"if": tagged(json!(["row"])), "then": {"$ref": "#/$defs/row"}},
                    {"if": tagged(json!(["a", "b"])), "then": cell},
                ],
            }))
        );
    }

    #[test]
    fn unions_that_nothing_tells_apart_stay() {
        let tagged = |value: &str| json!({"type": "object", "required": ["t"], "properties": {"t": {"const": value}}});
        for alternatives in [
            json!([{"type": "integer"}, {"type": "number"}]),
            json!([{"type": "string"}, {"type": "string", "minLength": 3}]),
            json!([{"type": "object"}, {"type": "object"}]),
            json!([tagged("a"), tagged("a")]),
            json!([tagged("a"), {"type": "object", "properties": {"t": {"const": "b"}}}]),
            json!([{"required": ["a"]}, {"required": ["b"]}]),
            json!([{"type": ["string", "null"]}, {"type": "object"}]),
            json!([true, {"type": "object"}]),
        ] {
            assert_eq!(
                rewrite(&json!({"anyOf": alternatives})),
                None,
                "{alternatives}"
            );
        }
        let pointed =
            json!({"anyOf": [{"type": "null"}, {"type": "string"}], "not": {"$ref": "#/anyOf/0"}});
        assert_eq!(rewrite(&pointed), None);
    }
}
