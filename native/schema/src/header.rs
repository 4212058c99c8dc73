//! `x-mcp-header`: arguments that a client repeats in `Mcp-Param-*` headers.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    Error, ErrorKind, pointer,
    text::{quoted, short},
};

const ANNOTATION: &str = "x-mcp-header";

/// One argument that is repeated in a header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeaderBinding {
    /// The header's name without `Mcp-Param-`, as it was annotated.
    pub name: String,
    /// The property names that lead from the arguments to the value.
    pub path: Vec<String>,
}

/// The header bindings of an input schema, in document order.
///
/// `MCP 2026-07-28 server/tools`, x-mcp-header. The depth of `document` does not matter; a document that
/// is no valid schema is read as far as it resembles one.
///
/// # Errors
///
/// The first annotation that a strict client would drop the whole tool for: not on a property reached
/// through `properties` alone, with a name that is no token or taken by another property (ignoring case),
/// or on a property whose `type` is not exactly one of `string`, `integer` and `boolean`.
pub fn header_bindings(document: &Value) -> Result<Vec<HeaderBinding>, Error> {
    let mut bindings = Vec::new();
    let mut taken = HashMap::new();
    let mut open = vec![Place {
        value: document,
        pointer: String::new(),
        part: Part::Root,
    }];
    while let Some(place) = open.pop() {
        if let (Value::Object(members), Some(annotation)) = (place.value, place.annotation()) {
            let binding = place.binding(members, annotation)?;
            let first = taken.insert(binding.name.to_ascii_lowercase(), place.pointer.clone());
            if let Some(first) = first {
                return Err(place.refuse(ErrorKind::RepeatedHeader {
                    name: quoted(&binding.name),
                    first,
                }));
            }
            bindings.push(binding);
        }
        place.push_parts(&mut open);
    }
    Ok(bindings)
}

/// A part of the document.
struct Place<'a> {
    value: &'a Value,
    pointer: String,
    part: Part,
}

/// What a part is, as far as annotations go.
#[derive(Clone, Eq, PartialEq)]
enum Part {
    /// The schema of the arguments.
    Root,
    /// The schema of the property that these names lead to, from the arguments down.
    Property(Vec<String>),
    /// The object under `properties` of such a schema.
    Properties(Vec<String>),
    /// An object whose members are schemas under names of the author's choice.
    Named,
    /// Anything else that may hold an annotation: there it is misplaced.
    Elsewhere,
}

impl<'a> Place<'a> {
    /// The annotation on this part. In an object of named schemas the member is a schema of that name.
    fn annotation(&self) -> Option<&'a Value> {
        match self.part {
            Part::Properties(_) | Part::Named => None,
            _ => self.value.get(ANNOTATION),
        }
    }

    fn binding(
        &self,
        members: &Map<String, Value>,
        annotation: &Value,
    ) -> Result<HeaderBinding, Error> {
        let Part::Property(path) = &self.part else {
            return Err(self.refuse(ErrorKind::HeaderPlace));
        };
        let name = annotation.as_str().filter(|name| is_token(name));
        let Some(name) = name else {
            return Err(self.refuse(ErrorKind::HeaderName {
                found: short(annotation),
            }));
        };
        let kind = members.get("type");
        if !kind.and_then(Value::as_str).is_some_and(is_plain) {
            return Err(self.refuse(ErrorKind::HeaderType {
                found: kind.map(short),
            }));
        }
        Ok(HeaderBinding {
            name: name.to_owned(),
            path: path.clone(),
        })
    }

    fn refuse(&self, kind: ErrorKind) -> Error {
        Error::new(pointer::join(&self.pointer, ANNOTATION), kind)
    }

    /// Pushes what this part holds so that it is taken up in document order.
    fn push_parts(&self, open: &mut Vec<Self>) {
        let first = open.len();
        match self.value {
            Value::Object(members) => {
                let parts = members.iter().filter_map(|(name, value)| {
                    let pointer = pointer::join(&self.pointer, name);
                    let part = self.part.member(name)?;
                    Some(Place {
                        value,
                        pointer,
                        part,
                    })
                });
                open.extend(parts);
            }
            Value::Array(items) => {
                let parts = items.iter().enumerate().map(|(index, value)| {
                    let pointer = format!("{}/{index}", self.pointer);
                    Place {
                        value,
                        pointer,
                        part: Part::Elsewhere,
                    }
                });
                open.extend(parts);
            }
            _ => {}
        }
        open[first..].reverse();
    }
}

impl Part {
    /// What the member `name` of this part is; nothing when it is data.
    fn member(&self, name: &str) -> Option<Self> {
        if let Self::Properties(path) = self {
            let mut path = path.clone();
            path.push(name.to_owned());
            return Some(Self::Property(path));
        }
        if *self == Self::Named {
            return Some(Self::Elsewhere);
        }
        match (name, self) {
            ("const" | "default" | "enum" | "examples", _) => None,
            ("properties", Self::Root) => Some(Self::Properties(Vec::new())),
            ("properties", Self::Property(path)) => Some(Self::Properties(path.clone())),
            (
                "$defs" | "definitions" | "dependencies" | "dependentRequired" | "dependentSchemas"
                | "patternProperties" | "properties",
                _,
            ) => Some(Self::Named),
            _ => Some(Self::Elsewhere),
        }
    }
}

/// Types of values that a header can carry: a string as it is, an integer in decimal, `true` or `false`.
fn is_plain(kind: &str) -> bool {
    matches!(kind, "string" | "integer" | "boolean")
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}
