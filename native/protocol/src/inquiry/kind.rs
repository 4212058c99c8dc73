//! The kinds of input that a client may be asked for, and what it declares to say that it can give them.

use serde_json::{Map, Value, json};

use crate::{
    error::{Code, Error},
    revision::Revision,
    word,
};

/// What a client is asked for, as far as its capabilities tell it apart (MCP client/elicitation, sampling, roots).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InputKind {
    /// The fields of a form.
    Form,
    /// A visit to a page.
    Url,
    /// A message of the client's model.
    Sampling,
    /// The same with tools that the model may use.
    ToolSampling,
    /// The directories that the client works in.
    Roots,
}

/// Kind, the name that hosts know it by, the capability and what has to be declared inside it.
const TABLE: [(InputKind, &str, &str, Option<&str>); 5] = [
    (
        InputKind::Form,
        "elicitation.form",
        "elicitation",
        Some("form"),
    ),
    (
        InputKind::Url,
        "elicitation.url",
        "elicitation",
        Some("url"),
    ),
    (InputKind::Sampling, "sampling", "sampling", None),
    (
        InputKind::ToolSampling,
        "sampling.tools",
        "sampling",
        Some("tools"),
    ),
    (InputKind::Roots, "roots", "roots", None),
];

impl InputKind {
    /// Reads the name that hosts use.
    pub fn parse(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The name that hosts use.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Whether a client of `revision` that declares `capabilities` can be asked for this (ELI-1, SAM-1).
    pub(super) fn is_declared(self, capabilities: &Value, revision: Revision) -> bool {
        let (_, _, capability, mode) = *self.row();
        let Some(declared) = capabilities.get(capability).and_then(Value::as_object) else {
            return false;
        };
        match (self, mode) {
            // A client that names no mode has forms.
            (Self::Form, _) => {
                revision == Revision::R20250618
                    || declared.contains_key("form")
                    || !declared.contains_key("url")
            }
            (_, Some(mode)) => {
                revision != Revision::R20250618 && declared.get(mode).is_some_and(Value::is_object)
            }
            (_, None) => true,
        }
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, Option<&'static str>) {
        TABLE
            .iter()
            .find(|row| row.0 == self)
            .expect("every kind has a row, which a test proves")
    }
}

/// The refusal of a client that cannot be asked for these (META-9, ERR-7).
pub(crate) fn missing_capability(kinds: &[InputKind]) -> Error {
    let required = required_capabilities(kinds);
    let message = format!("This request needs a client that declares {}", names(kinds));
    Error::new(Code::MissingCapability, word::CAPABILITY, message)
        .with_data(json!({"requiredCapabilities": required}).to_string())
}

/// The names of kinds, for a message.
pub(crate) fn names(kinds: &[InputKind]) -> String {
    let mut names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    names.dedup();
    names.join(", ")
}

/// What a client declares, in no more words than that takes.
pub(super) fn declared_capabilities(capabilities: &Value, revision: Revision) -> Value {
    let declared = TABLE.iter().map(|row| row.0);
    let kinds: Vec<InputKind> = declared
        .filter(|kind| kind.is_declared(capabilities, revision))
        .collect();
    let mut declared = required_capabilities(&kinds);
    if capabilities.pointer("/sampling/context").is_some() {
        declared["sampling"]["context"] = json!({});
    }
    declared
}

/// The `ClientCapabilities` that a client lacks for all of `kinds` (ERR-7).
fn required_capabilities(kinds: &[InputKind]) -> Value {
    let mut all = Map::new();
    for kind in kinds {
        let (_, _, capability, mode) = *kind.row();
        let declared = all.entry(capability).or_insert_with(|| json!({}));
        if let Some(mode) = mode {
            declared[mode] = json!({});
        }
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_row_under_a_name_of_its_own() {
        for row in TABLE {
            assert_eq!(InputKind::parse(row.1), Some(row.0));
            assert_eq!(row.0.name(), row.1);
        }
        assert_eq!(InputKind::parse("elicitation"), None);
    }

    #[test]
    fn clients_declare_modes() {
        let declared = |kind: InputKind, capabilities: Value, revision| {
            kind.is_declared(&capabilities, revision)
        };
        let modern = Revision::R20260728;
        let (form, url) = (InputKind::Form, InputKind::Url);
        assert!(declared(form, json!({"elicitation": {}}), modern));
        assert!(declared(form, json!({"elicitation": {"form": {}}}), modern));
        assert!(!declared(form, json!({"elicitation": {"url": {}}}), modern));
        assert!(!declared(form, json!({"sampling": {}}), modern));
        assert!(!declared(form, json!({"elicitation": true}), modern));
        assert!(!declared(url, json!({"elicitation": {}}), modern));
        assert!(declared(url, json!({"elicitation": {"url": {}}}), modern));
        let both = json!({"elicitation": {"form": {}, "url": {}}});
        assert!(declared(url, both.clone(), Revision::R20251125));
        assert!(!declared(url, both.clone(), Revision::R20250618));
        assert!(declared(form, both, Revision::R20250618));
        let tools = json!({"sampling": {"tools": {}}});
        assert!(declared(InputKind::ToolSampling, tools.clone(), modern));
        assert!(declared(InputKind::Sampling, tools.clone(), modern));
        assert!(!declared(
            InputKind::ToolSampling,
            tools,
            Revision::R20250618
        ));
        assert!(!declared(
            InputKind::ToolSampling,
            json!({"sampling": {}}),
            modern
        ));
        assert!(declared(
            InputKind::Roots,
            json!({"roots": {"listChanged": true}}),
            modern
        ));
    }

    #[test]
    fn what_is_lacking_is_one_object() {
        let kinds = [InputKind::Form, InputKind::Url, InputKind::Sampling];
        let expected = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}});
        assert_eq!(required_capabilities(&kinds), expected);
        assert_eq!(
            required_capabilities(&[InputKind::ToolSampling]),
            json!({"sampling": {"tools": {}}})
        );
    }
}
