//! The property names a closed object schema declares, kept for faults about others.

use std::collections::HashMap;

use jsonschema::ValidationError;
use serde_json::{Map, Value};

use crate::{document::Document, text::quoted};

/// Names that a fault lists.
const SHOWN: usize = 10;

/// Declared names as text, by the pointer of the schema that declares them.
///
/// Schemas below an embedded `$id` are left out: the validator places their faults relative to it.
#[derive(Debug)]
pub(crate) struct Declared {
    base: String,
    names: HashMap<String, String>,
}

impl Declared {
    pub(crate) fn in_document(document: &Document<'_>) -> Self {
        let base = document.base(0);
        let mut names = HashMap::new();
        for (number, subschema) in document.subschemas().iter().enumerate() {
            let Value::Object(members) = subschema.value else {
                continue;
            };
            if is_closed(members) && document.base(number) == base {
                names.insert(subschema.pointer.clone(), list(members));
            }
        }
        Self {
            base: base.to_owned(),
            names,
        }
    }

    /// What the closed schema that `error` comes from declares.
    pub(crate) fn expectation(&self, error: &ValidationError<'_>) -> String {
        match self.names(error) {
            Some(names) if !names.is_empty() => format!("only {names}"),
            _ => "no other property".to_owned(),
        }
    }

    /// Whether `error` is about properties of a schema that admits none: the validator reports these as
    /// an object that should not be there.
    pub(crate) fn is_closed(&self, error: &ValidationError<'_>) -> bool {
        let place = error.schema_path().as_str();
        place.ends_with("/additionalProperties") && self.names(error).is_some()
    }

    fn names(&self, error: &ValidationError<'_>) -> Option<&String> {
        let (schema, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.names.get(schema).filter(|_| self.covers(error))
    }

    fn covers(&self, error: &ValidationError<'_>) -> bool {
        let location = error.absolute_keyword_location();
        location.is_none_or(|uri| uri.as_str().split('#').next() == Some(&self.base))
    }
}

fn is_closed(members: &Map<String, Value>) -> bool {
    ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|name| members.contains_key(*name))
}

fn list(members: &Map<String, Value>) -> String {
    let Some(properties) = members.get("properties").and_then(Value::as_object) else {
        return String::new();
    };
    let shown: Vec<String> = properties
        .keys()
        .take(SHOWN)
        .map(|name| quoted(name))
        .collect();
    let rest = properties.len() - shown.len();
    let shown = shown.join(", ");
    if rest > 0 {
        format!("{shown} and {rest} more")
    } else {
        shown
    }
}
