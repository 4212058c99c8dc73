//! Definitions that are refused when they are registered: G16, A-15, A-16, X19, X20, X23.

use mcp_protocol::{Catalog, DefinitionFault, ToolDefinition};
use serde_json::json;

use crate::harness::{config, definition};

#[test]
fn wrong_definitions_are_refused_with_their_place() {
    let header = |kind: serde_json::Value, name: &str| json!({"type": "object", "properties": {"a": {"type": kind, "x-mcp-header": name}}});
    let long = "x".repeat(129);
    for (name, schema, place) in [
        ("valid_name\n", None, "name"),
        ("", None, "name"),
        (long.as_str(), None, "name"),
        ("a b", None, "name"),
        (
            "tool",
            Some(json!({"anyOf": [{"type": "object"}]})),
            "input_schema",
        ),
        (
            "tool",
            Some(json!({"$schema": "http://json-schema.org/draft-07/schema#"})),
            "input_schema",
        ),
        ("tool", Some(json!(true)), "input_schema"),
        ("tool", Some(json!({})), "input_schema"),
        (
            "tool",
            Some(json!({"type": "object", "$schema": "http://json-schema.org/draft-03/schema#"})),
            "input_schema",
        ),
        (
            "tool",
            Some(
                json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}),
            ),
            "input_schema/properties/a",
        ),
        (
            "tool",
            Some(header(json!("number"), "A")),
            "input_schema/properties/a",
        ),
        (
            "tool",
            Some(header(json!(["string", "null"]), "A")),
            "input_schema/properties/a",
        ),
        (
            "tool",
            Some(header(json!("string"), "")),
            "input_schema/properties/a",
        ),
        (
            "tool",
            Some(header(json!("string"), "a b")),
            "input_schema/properties/a",
        ),
    ] {
        let faults = refused(vec![definition(name, schema.clone())]);
        assert!(faults.iter().all(|fault| fault.definition == name));
        assert!(
            faults.iter().any(|fault| fault.place.starts_with(place)),
            "{name:?} {schema:?}: {faults:?}"
        );
    }
}

#[test]
fn every_fault_of_every_definition_is_told_at_once() {
    let bad = |name: &str| definition(name, Some(json!({"type": "array"})));
    let faults = refused(vec![
        bad("a b"),
        definition("twice", None),
        bad("c"),
        definition("twice", None),
    ]);
    let places: Vec<_> = faults
        .iter()
        .map(|fault| (fault.definition.as_str(), fault.place.as_str()))
        .collect();
    for expected in [("a b", "name"), ("twice", "name")] {
        assert!(places.contains(&expected), "{places:?}");
    }
    assert!(
        places
            .iter()
            .any(|(name, place)| *name == "c" && place.starts_with("input_schema"))
    );
    assert!(
        places.iter().filter(|(name, _)| *name == "a b").count() == 2,
        "{places:?}"
    );
}

fn refused(definitions: Vec<ToolDefinition>) -> Vec<DefinitionFault> {
    Catalog::compile(definitions, &config()).expect_err("a definition is wrong")
}
