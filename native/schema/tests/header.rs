//! `x-mcp-header` annotations (`MCP 2026-07-28 server/tools`): what a strict client accepts.

use mcp_schema::{Error, ErrorKind, HeaderBinding, header_bindings};
use serde_json::{Value, json};

fn refused(document: &Value) -> Error {
    match header_bindings(document) {
        Ok(bindings) => panic!("{document} gives {bindings:?}"),
        Err(error) => error,
    }
}

fn annotated(kind: &str) -> Value {
    json!({"type": kind, "x-mcp-header": "Region"})
}

#[test]
fn bindings_come_in_document_order_with_their_paths() {
    let document = json!({
        "type": "object",
        "properties": {
            "tenant": {"type": "string", "x-mcp-header": "Tenant-Id"},
            "plain": {"type": "number"},
            "where": {"type": "object", "properties": {
                "zone": {"type": "integer", "x-mcp-header": "Zone"},
                "properties": {"properties": {"deep": {"type": "boolean", "x-mcp-header": "Method"}}},
            }},
        },
    });
    let binding = |name: &str, path: &[&str]| HeaderBinding {
        name: name.to_owned(),
        path: path.iter().map(|segment| (*segment).to_owned()).collect(),
    };
    assert_eq!(
        header_bindings(&document),
        Ok(vec![
            binding("Tenant-Id", &["tenant"]),
            binding("Zone", &["where", "zone"]),
            binding("Method", &["where", "properties", "deep"]),
        ])
    );
    assert_eq!(header_bindings(&json!({"type": "object"})), Ok(Vec::new()));
}

/// HDR-41.
#[test]
fn names_are_tokens() {
    for name in ["A", "x-y", "!#$%&'*+-.^_`|~09"] {
        let document = json!({"properties": {"a": {"type": "string", "x-mcp-header": name}}});
        assert_eq!(header_bindings(&document).expect(name)[0].name, name);
    }
    for name in [
        json!(""),
        json!("a b"),
        json!("a:"),
        json!("a\r\n"),
        json!("ü"),
        json!(7),
        json!(null),
    ] {
        let document = json!({"properties": {"a": {"type": "string", "x-mcp-header": name}}});
        let error = refused(&document);
        assert!(
            matches!(error.kind, ErrorKind::HeaderName { .. }),
            "{error}"
        );
        assert_eq!(error.pointer, "/properties/a/x-mcp-header");
    }
}

/// HDR-42.
#[test]
fn names_are_unique_ignoring_case() {
    let error = refused(&json!({"properties": {
        "a": {"type": "string", "x-mcp-header": "Region"},
        "b": {"properties": {"c": {"type": "string", "x-mcp-header": "REGION"}}},
    }}));
    assert_eq!(
        error.to_string(),
        "/properties/b/properties/c/x-mcp-header: x-mcp-header \"REGION\" is taken by /properties/a \
         (case does not count); use another name"
    );
}

/// HDR-43, HDR-46, reading A-15.
#[test]
fn types_are_single_and_fit_a_header() {
    for name in ["string", "integer", "boolean"] {
        let document = json!({"properties": {"a": annotated(name)}});
        assert_eq!(header_bindings(&document).expect(name).len(), 1);
    }
    for kind in [
        json!("number"),
        json!("object"),
        json!("array"),
        json!("null"),
        json!(["string", "null"]),
        json!(["string"]),
    ] {
        let document = json!({"properties": {"a": {"type": kind, "x-mcp-header": "A"}}});
        let error = refused(&document);
        assert!(
            matches!(error.kind, ErrorKind::HeaderType { found: Some(_) }),
            "{error}"
        );
    }
    let error = refused(&json!({"properties": {"a": {"x-mcp-header": "A"}}}));
    assert_eq!(
        error.to_string(),
        "/properties/a/x-mcp-header: a property with x-mcp-header must have the type string, integer or \
         boolean, found none; declare one of them or remove the annotation"
    );
}

/// HDR-44.
#[test]
fn only_chains_of_properties_lead_to_annotations() {
    let property = json!({"properties": {"a": annotated("string")}});
    for (document, pointer) in [
        (annotated("string"), "/x-mcp-header"),
        (json!({"items": annotated("string")}), "/items/x-mcp-header"),
        (
            json!({"prefixItems": [annotated("string")]}),
            "/prefixItems/0/x-mcp-header",
        ),
        (
            json!({"additionalProperties": annotated("string")}),
            "/additionalProperties/x-mcp-header",
        ),
        (
            json!({"patternProperties": {"a": annotated("string")}}),
            "/patternProperties/a/x-mcp-header",
        ),
        (
            json!({"oneOf": [property]}),
            "/oneOf/0/properties/a/x-mcp-header",
        ),
        (
            json!({"anyOf": [property]}),
            "/anyOf/0/properties/a/x-mcp-header",
        ),
        (
            json!({"allOf": [property]}),
            "/allOf/0/properties/a/x-mcp-header",
        ),
        (json!({"not": property}), "/not/properties/a/x-mcp-header"),
        (json!({"if": property}), "/if/properties/a/x-mcp-header"),
        (json!({"then": property}), "/then/properties/a/x-mcp-header"),
        (json!({"else": property}), "/else/properties/a/x-mcp-header"),
        (
            json!({"dependentSchemas": {"b": property}}),
            "/dependentSchemas/b/properties/a/x-mcp-header",
        ),
        (
            json!({"$defs": {"b": property}}),
            "/$defs/b/properties/a/x-mcp-header",
        ),
        (
            json!({"$ref": "#/definitions/b", "definitions": {"b": property}}),
            "/definitions/b/properties/a/x-mcp-header",
        ),
        (
            json!({"properties": {"list": {"items": property}}}),
            "/properties/list/items/properties/a/x-mcp-header",
        ),
        (
            json!({"properties": {"c": {"anyOf": [annotated("string")]}}}),
            "/properties/c/anyOf/0/x-mcp-header",
        ),
        (
            json!({"components": {"b": property}}),
            "/components/b/properties/a/x-mcp-header",
        ),
    ] {
        let error = refused(&document);
        assert_eq!(
            (error.kind, error.pointer.as_str()),
            (ErrorKind::HeaderPlace, pointer)
        );
    }
    assert_eq!(
        ErrorKind::HeaderPlace.to_string(),
        "x-mcp-header is allowed only on properties reached from the root through \"properties\" alone; \
         move or remove it"
    );
}

#[test]
fn names_and_data_are_no_annotations() {
    for document in [
        json!({"properties": {"x-mcp-header": {"type": "string"}}}),
        json!({"$defs": {"x-mcp-header": {"type": "string"}}}),
        json!({"properties": {"a": {"default": {"x-mcp-header": "A"}, "examples": [{"x-mcp-header": 1}]}}}),
        json!({"const": {"x-mcp-header": "A"}, "enum": [{"x-mcp-header": "A"}]}),
    ] {
        assert_eq!(header_bindings(&document), Ok(Vec::new()), "{document}");
    }
}

#[test]
fn documents_that_are_no_schemas_are_read_without_harm() {
    for document in [
        json!(null),
        json!(true),
        json!([]),
        json!({"properties": 5}),
        json!({"properties": [1]}),
    ] {
        assert_eq!(header_bindings(&document), Ok(Vec::new()), "{document}");
    }
}
