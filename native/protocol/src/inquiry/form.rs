//! Forms: what their fields may be, in which words a revision says them, and whether an answer fits
//! (MCP client/elicitation, "Requested Schema").

use mcp_json::Node;
use mcp_schema::{Limits, Role, Schema};
use serde_json::{Map, Value, json};

use super::shape::{self, Shape, check_members, member};
use crate::revision::Revision;

/// The form of an elicitation.
pub(super) struct Form {
    schema: Value,
    compiled: Schema,
}

/// What may stand beside `type` in a field of each kind (ELI-4, ELI-5).
const TEXT: &[(&str, Shape)] = &[
    ("title", Shape::String),
    ("description", Shape::String),
    ("minLength", Shape::Count),
    ("maxLength", Shape::Count),
    (
        "format",
        Shape::OneOf(&["email", "uri", "date", "date-time"]),
    ),
    ("enum", Shape::Strings),
    ("enumNames", Shape::Strings),
    ("oneOf", Shape::Choices),
    ("default", Shape::String),
];

const NUMBER: &[(&str, Shape)] = &[
    ("title", Shape::String),
    ("description", Shape::String),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("default", Shape::Number),
];

const BOOLEAN: &[(&str, Shape)] = &[
    ("title", Shape::String),
    ("description", Shape::String),
    ("default", Shape::Boolean),
];

const SEVERAL: &[(&str, Shape)] = &[
    ("title", Shape::String),
    ("description", Shape::String),
    ("minItems", Shape::Count),
    ("maxItems", Shape::Count),
    ("items", Shape::Object),
    ("default", Shape::Strings),
];

impl Form {
    /// Checks a `requestedSchema`; an error says in one sentence what the host has to mend.
    pub(super) fn parse(schema: &Value) -> Result<Self, String> {
        let fields = check_members(
            schema,
            "requestedSchema",
            &[
                ("$schema", Shape::String),
                ("type", Shape::OneOf(&["object"])),
                ("properties", Shape::Object),
                ("required", Shape::Strings),
            ],
        )
        .and_then(|()| check_root(schema))?;
        for (name, field) in fields {
            check_field(field, &format!("requestedSchema.properties.{name}"))?;
        }
        let compiled = Schema::compile(Role::Input, schema, &Limits::default())
            .map_err(|error| format!("requestedSchema: {error}"))?;
        Ok(Self {
            schema: schema.clone(),
            compiled,
        })
    }

    /// The schema in the words of `revision`; `None` where they do not suffice.
    pub(super) fn schema_for(&self, revision: Revision) -> Option<Value> {
        match revision {
            Revision::R20250618 => first_words(&self.schema),
            Revision::R20251125 | Revision::R20260728 => Some(self.schema.clone()),
        }
    }

    /// Whether the content of an accepted form is what was asked for (MRTR-17).
    pub(super) fn accepts(&self, content: Node<'_>) -> bool {
        self.compiled.check_node(content).is_ok()
    }
}

fn check_root(schema: &Value) -> Result<&Map<String, Value>, String> {
    if schema["type"] != "object" {
        return Err("requestedSchema.type must be \"object\"".into());
    }
    let fields = schema["properties"]
        .as_object()
        .ok_or("requestedSchema.properties must be an object: one member a field")?;
    let required = schema["required"].as_array();
    let unknown = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|name| !fields.contains_key(*name));
    match unknown {
        Some(name) => Err(format!(
            "requestedSchema.required names {name:?}, which is no field"
        )),
        None => Ok(fields),
    }
}

fn check_field(field: &Value, place: &str) -> Result<(), String> {
    let kind = field["type"].as_str().unwrap_or_default();
    let rules = match kind {
        "string" => TEXT,
        "number" | "integer" => NUMBER,
        "boolean" => BOOLEAN,
        "array" => SEVERAL,
        _ => {
            return Err(format!(
                "{place}.type must be string, number, integer, boolean, or array for a choice of several"
            ));
        }
    };
    let rules: Vec<_> = [("type", Shape::String)]
        .iter()
        .chain(rules)
        .copied()
        .collect();
    check_members(field, place, &rules)?;
    match kind {
        "string" => check_choice(field, place),
        "array" => check_items(&field["items"], &format!("{place}.items")),
        _ => Ok(()),
    }
}

/// A field with choices has them in one of the three forms.
fn check_choice(field: &Value, place: &str) -> Result<(), String> {
    let count = |name: &str| field[name].as_array().map(Vec::len);
    match (count("enum"), count("enumNames"), count("oneOf")) {
        (Some(_), _, Some(_)) => Err(format!("{place} has both enum and oneOf: choose one")),
        (Some(values), Some(names), _) if values != names => Err(format!(
            "{place}.enumNames has {names} names for {values} values of enum"
        )),
        (None, Some(_), _) => Err(format!("{place}.enumNames needs enum")),
        (Some(0), ..) | (.., Some(0)) => Err(format!("{place} needs at least one choice")),
        _ => Ok(()),
    }
}

fn check_items(items: &Value, place: &str) -> Result<(), String> {
    let titled = items.get("anyOf").is_some();
    let rules: &[_] = match titled {
        true => &[("anyOf", Shape::Choices)],
        false => &[
            ("type", Shape::OneOf(&["string"])),
            ("enum", Shape::Strings),
        ],
    };
    check_members(items, place, rules)?;
    let (list, needed): (_, &[&str]) = match titled {
        true => ("anyOf", &["anyOf"]),
        false => ("enum", &["type", "enum"]),
    };
    if let Some(missing) = needed.iter().find(|name| member(items, name).is_none()) {
        return Err(format!("{place}.{missing} is missing"));
    }
    match items[list].as_array().is_some_and(Vec::is_empty) {
        true => Err(format!("{place} needs at least one choice")),
        false => Ok(()),
    }
}

/// 2025-06-18 has `enum` with `enumNames` for choices, no choice of several, and defaults of booleans alone.
fn first_words(schema: &Value) -> Option<Value> {
    let mut fields = Map::new();
    for (name, field) in schema["properties"].as_object()? {
        fields.insert(name.clone(), first_words_of_field(field)?);
    }
    let mut out = Map::new();
    out.insert("type".into(), json!("object"));
    out.insert("properties".into(), Value::Object(fields));
    if let Some(required) = member(schema, "required") {
        out.insert("required".into(), required.clone());
    }
    Some(Value::Object(out))
}

fn first_words_of_field(field: &Value) -> Option<Value> {
    let kind = field["type"].as_str()?;
    if kind == "array" {
        return None;
    }
    let mut out = field.as_object()?.clone();
    if kind != "boolean" {
        out.shift_remove("default");
    }
    if let Some(choices) = out.shift_remove("oneOf") {
        let (values, names) = shape::choices(&choices);
        out.insert("enum".into(), values.into());
        out.insert("enumNames".into(), names.into());
    }
    Some(Value::Object(out))
}
