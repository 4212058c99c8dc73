//! A schema document taken apart: its subschemas, their base URIs, and the names they carry.

use std::{collections::HashMap, rc::Rc};

use jsonschema::{Uri, uri};
use serde_json::{Map, Value};

use crate::{Dialect, Error, ErrorKind, keyword::Keyword, pointer, text::quoted};

/// All subschemas of one document, in the order they were met.
pub(crate) struct Document<'a> {
    dialect: Dialect,
    subschemas: Vec<Subschema<'a>>,
    /// From the address of a value to the number of the subschema it is. The document is borrowed for as
    /// long as this map lives, so addresses stand still.
    places: HashMap<*const Value, usize>,
    /// From absolute URI to the schema that carries it as `$id`.
    resources: HashMap<String, usize>,
    /// From URI and plain name to the schemas with that anchor: one, or several dynamic ones.
    anchors: HashMap<(String, String), Anchor>,
}

/// One schema inside a document.
pub(crate) struct Subschema<'a> {
    pub(crate) value: &'a Value,
    pub(crate) pointer: String,
    base: Rc<Uri<String>>,
}

struct Anchor {
    target: usize,
    is_dynamic: bool,
}

/// A value that is a schema, still to be taken apart.
struct Pending<'a> {
    value: &'a Value,
    pointer: String,
    base: Rc<Uri<String>>,
}

impl<'a> Document<'a> {
    /// Takes `root` apart; the document's depth has been checked.
    ///
    /// # Errors
    ///
    /// The first nested `$schema` of another dialect, and the first bad or repeated name.
    pub(crate) fn read(root: &'a Value, dialect: Dialect) -> Result<Self, Error> {
        let base = uri::from_str("").expect("an empty reference resolves to the default base");
        let base = Rc::new(base);
        let mut document = Self {
            dialect,
            subschemas: Vec::new(),
            places: HashMap::new(),
            resources: HashMap::from([(base.to_string(), 0)]),
            anchors: HashMap::new(),
        };
        document.take_apart(Pending {
            value: root,
            pointer: String::new(),
            base,
        })?;
        Ok(document)
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn subschemas(&self) -> &[Subschema<'a>] {
        &self.subschemas
    }

    /// The absolute URI that references in the subschema start from.
    pub(crate) fn base(&self, number: usize) -> &str {
        self.subschemas[number].base.as_str()
    }

    /// The number of the subschema that `value`, a part of this document, is.
    pub(crate) fn number(&self, value: &Value) -> Option<usize> {
        self.places.get(&std::ptr::from_ref(value)).copied()
    }

    /// The numbers of the schemas that `reference`, the value of `keyword` in subschema `from`, may lead
    /// to: several when it names a dynamic anchor, which the schemas passed through at run time decide.
    ///
    /// A target that no keyword marks as a schema becomes one.
    pub(crate) fn resolve(
        &mut self,
        from: usize,
        keyword: &str,
        reference: &str,
    ) -> Result<Vec<usize>, Error> {
        let place = pointer::join(&self.subschemas[from].pointer, keyword);
        let outside = ErrorKind::OutsideReference {
            reference: quoted(reference),
        };
        let dead = ErrorKind::DeadReference {
            reference: quoted(reference),
        };
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let Some(resource) = self.resource(from, name) else {
            return Err(Error::new(place, outside));
        };
        let targets = match percent_decoded(fragment) {
            None => None,
            Some(fragment) if fragment.is_empty() => Some(vec![resource]),
            Some(fragment) if fragment.starts_with('/') => self.at_pointer(resource, &fragment)?,
            Some(name) => self.at_anchor(resource, name),
        };
        targets.ok_or_else(|| Error::new(place, dead))
    }

    fn resource(&self, from: usize, name: &str) -> Option<usize> {
        let base = &self.subschemas[from].base;
        let target = if name.is_empty() {
            base.to_string()
        } else {
            without_fragment(&uri::resolve_against(&base.borrow(), name).ok()?)
        };
        self.resources.get(&target).copied()
    }

    fn at_pointer(&mut self, resource: usize, fragment: &str) -> Result<Option<Vec<usize>>, Error> {
        let root = &self.subschemas[resource];
        let Some(value) = pointer::lookup(root.value, fragment) else {
            return Ok(None);
        };
        if let Some(number) = self.number(value) {
            return Ok(Some(vec![number]));
        }
        if !(value.is_object() || value.is_boolean()) {
            return Ok(None);
        }
        let pointer = format!("{}{fragment}", root.pointer);
        let base = Rc::clone(&root.base);
        let number = self.subschemas.len();
        self.take_apart(Pending {
            value,
            pointer,
            base,
        })?;
        Ok(Some(vec![number]))
    }

    fn at_anchor(&self, resource: usize, name: String) -> Option<Vec<usize>> {
        let key = (self.subschemas[resource].base.to_string(), name);
        let anchor = self.anchors.get(&key)?;
        if !anchor.is_dynamic {
            return Some(vec![anchor.target]);
        }
        let alike = |(place, anchor): (&(String, String), &Anchor)| {
            (place.1 == key.1 && anchor.is_dynamic).then_some(anchor.target)
        };
        Some(self.anchors.iter().filter_map(alike).collect())
    }

    /// Numbers the pending schema, then everything below it that is not numbered yet.
    fn take_apart(&mut self, pending: Pending<'a>) -> Result<(), Error> {
        let mut open = vec![pending];
        while let Some(mut schema) = open.pop() {
            if self.places.contains_key(&std::ptr::from_ref(schema.value)) {
                continue;
            }
            let number = self.subschemas.len();
            self.places.insert(std::ptr::from_ref(schema.value), number);
            if let Value::Object(members) = schema.value {
                self.check_dialect(&schema, members)?;
                self.enter_names(&mut schema, members, number)?;
                self.push_subschemas(&schema, members, &mut open);
            }
            let Pending {
                value,
                pointer,
                base,
            } = schema;
            self.subschemas.push(Subschema {
                value,
                pointer,
                base,
            });
        }
        Ok(())
    }

    fn push_subschemas(
        &self,
        schema: &Pending<'a>,
        members: &'a Map<String, Value>,
        open: &mut Vec<Pending<'a>>,
    ) {
        let first = open.len();
        for (name, value) in members {
            let Some(keyword) = Keyword::find(name, self.dialect) else {
                continue;
            };
            let subschemas = keyword.subschemas(&schema.pointer, value).into_iter();
            open.extend(subschemas.map(|(pointer, value)| Pending {
                value,
                pointer,
                base: Rc::clone(&schema.base),
            }));
        }
        // The last one pushed is taken apart first: document order.
        open[first..].reverse();
    }

    fn check_dialect(
        &self,
        schema: &Pending<'_>,
        members: &Map<String, Value>,
    ) -> Result<(), Error> {
        let Some(name) = members.get("$schema").and_then(Value::as_str) else {
            return Ok(());
        };
        if Dialect::named(name) == Some(self.dialect) {
            return Ok(());
        }
        let place = pointer::join(&schema.pointer, "$schema");
        Err(Error::new(
            place,
            ErrorKind::MixedDialects {
                found: quoted(name),
            },
        ))
    }

    fn enter_names(
        &mut self,
        schema: &mut Pending<'_>,
        members: &Map<String, Value>,
        number: usize,
    ) -> Result<(), Error> {
        if let Some(id) = members.get("$id").and_then(Value::as_str) {
            self.enter_id(schema, members, id, number)?;
        }
        if self.dialect == Dialect::Draft07 {
            return Ok(());
        }
        for (keyword, is_dynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
            if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                self.enter_anchor(
                    schema,
                    keyword,
                    name,
                    Anchor {
                        target: number,
                        is_dynamic,
                    },
                )?;
            }
        }
        Ok(())
    }

    /// In draft-07 an `$id` that is a fragment is an anchor, and one beside `$ref` is nothing.
    fn enter_id(
        &mut self,
        schema: &mut Pending<'_>,
        members: &Map<String, Value>,
        id: &str,
        number: usize,
    ) -> Result<(), Error> {
        if self.dialect == Dialect::Draft07 {
            if let Some(name) = id.strip_prefix('#').filter(|name| !name.is_empty()) {
                let anchor = Anchor {
                    target: number,
                    is_dynamic: false,
                };
                return self.enter_anchor(schema, "$id", name, anchor);
            }
            if members.contains_key("$ref") {
                return Ok(());
            }
        }
        let refuse = |kind| Error::new(pointer::join(&schema.pointer, "$id"), kind);
        let Ok(base) = uri::resolve_against(&schema.base.borrow(), id) else {
            return Err(refuse(ErrorKind::Name { found: quoted(id) }));
        };
        let name = without_fragment(&base);
        // The document's own default name may be given up, but to the root alone.
        let taken = self.resources.insert(name.clone(), number);
        if taken.is_some_and(|other| other != number) {
            return Err(refuse(ErrorKind::RepeatedName { found: quoted(id) }));
        }
        schema.base = Rc::new(uri::from_str(&name).expect("a resolved URI is a URI"));
        Ok(())
    }

    fn enter_anchor(
        &mut self,
        schema: &Pending<'_>,
        keyword: &str,
        name: &str,
        anchor: Anchor,
    ) -> Result<(), Error> {
        let key = (schema.base.to_string(), name.to_owned());
        if self.anchors.insert(key, anchor).is_none() {
            return Ok(());
        }
        let place = pointer::join(&schema.pointer, keyword);
        Err(Error::new(
            place,
            ErrorKind::RepeatedName {
                found: quoted(name),
            },
        ))
    }
}

fn without_fragment(uri: &Uri<String>) -> String {
    let text = uri.as_str();
    text.split_once('#')
        .map_or(text, |(name, _)| name)
        .to_owned()
}

/// The fragment of a reference with its percent-encoding undone; `None` when that is no text.
fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
