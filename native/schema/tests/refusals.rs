//! Documents that are refused, with the words they are refused in.

use std::{net::TcpListener, thread};

use mcp_schema::{Error, ErrorKind, Limits, Role, Schema};
use serde_json::{Value, json};

fn refused(role: Role, document: &Value) -> Error {
    match Schema::compile(role, document, &Limits::default()) {
        Ok(_) => panic!("{document} is accepted"),
        Err(error) => error,
    }
}

fn accepted(document: &Value) -> Schema {
    Schema::compile(Role::Output, document, &Limits::default())
        .unwrap_or_else(|error| panic!("{document}: {error}"))
}

#[test]
fn every_refusal_says_where_what_and_the_way_out() {
    for (document, text) in [
        (
            json!(true),
            "(root): a schema must be a JSON object, found boolean; write {} to admit any value",
        ),
        (
            json!(null),
            "(root): a schema must be a JSON object, found null; write {} to admit any value",
        ),
        (
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema"}),
            r#"/$schema: the dialect "https://json-schema.org/draft/2019-09/schema" is not supported; use 2020-12 (the default) or draft-07"#,
        ),
        (
            json!({"$schema": 7}),
            "/$schema: the dialect 7 is not supported; use 2020-12 (the default) or draft-07",
        ),
        (
            json!({"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}),
            r#"/properties/a/$schema: the dialect "http://json-schema.org/draft-07/schema#" differs from the document's; use one dialect in a document"#,
        ),
        (
            json!({"properties": {"a": {"type": "strin"}}}),
            r#"/properties/a/type: the dialect asks for one of "array", "boolean", "integer", "null", "number", "object", "string" or array, found string "strin"; correct it"#,
        ),
        (
            json!({"properties": 5}),
            "/properties: the dialect asks for object, found integer 5; correct it",
        ),
        (
            json!({"properties": {"a": {"minimum": "3"}}}),
            r#"/properties/a/minimum: the dialect asks for number, found string "3"; correct it"#,
        ),
        (
            json!({"$defs": {"a": {"$id": "http://["}}}),
            r#"/$defs/a/$id: "http://[" is no valid name; use a URI without fragment"#,
        ),
        (
            json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}),
            r#"/$defs/b/$anchor: the name "x" is taken in this document; use another"#,
        ),
        (
            json!({"$id": "https://e.com/a", "$defs": {"b": {"$id": "a"}}}),
            r#"/$defs/b/$id: the name "a" is taken in this document; use another"#,
        ),
        (
            json!({"items": {"$ref": "https://example.com/x.json"}}),
            r#"/items/$ref: the reference "https://example.com/x.json" leads out of the document and nothing is ever fetched; put its target under $defs"#,
        ),
        (
            json!({"properties": {"a": {"$ref": "#/nope"}}}),
            r##"/properties/a/$ref: the reference "#/nope" leads nowhere; declare its target under $defs"##,
        ),
        (
            json!({"allOf": [{"$ref": "#"}]}),
            "/allOf/0: the schema applies itself to the same value without end; recurse through properties or items",
        ),
        (
            json!({"properties": {"a": {"pattern": "^(?!x)"}}}),
            r#"/properties/a/pattern: the pattern "^(?!x)" uses look-around, which has no linear-time matcher; split it into several patterns under allOf"#,
        ),
        (
            json!({"patternProperties": {"(a)\\1": {}}}),
            r#"/patternProperties/(a)\1: the pattern "(a)\\1" uses a back-reference, which has no linear-time matcher; spell the alternatives out"#,
        ),
        (
            json!({"pattern": "a("}),
            r#"/pattern: the pattern "a(" is malformed or compiles to more than 1 MiB; correct or shorten it"#,
        ),
    ] {
        assert_eq!(
            refused(Role::Output, &document).to_string(),
            text,
            "{document}"
        );
    }
}

/// Trial G16: clients drop all tools for one whose input schema is no object schema.
#[test]
fn an_input_schema_says_type_object() {
    for (document, text) in [
        (
            json!({"anyOf": [{"type": "object"}]}),
            "(root): the root of an input schema must say \"type\": \"object\", found no type; declare the arguments as properties of an object",
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            "(root): the root of an input schema must say \"type\": \"object\", found no type; declare the arguments as properties of an object",
        ),
        (
            json!({"type": ["object", "null"]}),
            "/type: the root of an input schema must say \"type\": \"object\", found [\"object\",\"null\"]; declare the arguments as properties of an object",
        ),
        (
            json!({"type": "string"}),
            "/type: the root of an input schema must say \"type\": \"object\", found \"string\"; declare the arguments as properties of an object",
        ),
    ] {
        assert_eq!(refused(Role::Input, &document).to_string(), text);
    }
    for document in [
        json!({}),
        json!(true),
        json!(null),
        json!([]),
        json!("object"),
    ] {
        refused(Role::Input, &document);
    }
    for document in [
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": false}),
    ] {
        assert!(Schema::compile(Role::Input, &document, &Limits::default()).is_ok());
    }
    for document in [json!({}), json!({"type": "array"}), json!({"anyOf": [{}]})] {
        accepted(&document);
    }
}

#[test]
fn malformed_patterns_are_named_in_both_dialects_and_places() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
    ] {
        for (keywords, pointer) in [
            (json!({"pattern": "["}), "/pattern"),
            (
                json!({"patternProperties": {"[": {}}}),
                "/patternProperties",
            ),
        ] {
            let mut document = keywords;
            document["$schema"] = json!(dialect);
            let error = refused(Role::Output, &document);
            assert_eq!(
                error.kind,
                ErrorKind::Pattern {
                    pattern: "\"[\"".to_owned()
                },
                "{document}"
            );
            assert!(error.pointer.starts_with(pointer), "{error}");
        }
    }
    let huge = json!({"pattern": "(a{1000}){1000}"});
    assert!(matches!(
        refused(Role::Output, &huge).kind,
        ErrorKind::Pattern { .. }
    ));
}

/// Trial X19: nothing is ever fetched.
#[test]
fn no_reference_opens_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("non-blocking");
    let base = format!("http://{}", listener.local_addr().expect("bound"));
    let url = format!("{base}/x.json");
    for document in [
        json!({"$ref": url}),
        json!({"$dynamicRef": url}),
        json!({"$defs": {"unused": {"$ref": url}}}),
        json!({"items": {"$ref": format!("{url}#/$defs/a")}}),
        json!({"$id": format!("{base}/root.json"), "items": {"$ref": "x.json"}}),
        json!({"properties": {"a": {"$id": format!("{base}/a/"), "items": {"$ref": "x.json"}}}}),
        json!({"unknown": {"$ref": url}, "items": {"$ref": "#/unknown"}}),
        json!({"$ref": "file:///etc/hostname"}),
        json!({"$ref": "x.json"}),
        json!({"$ref": "//127.0.0.1/x.json"}),
        json!({"$ref": "urn:example:x"}),
        json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
    ] {
        let error = refused(Role::Output, &document);
        assert!(
            matches!(error.kind, ErrorKind::OutsideReference { .. }),
            "{error}"
        );
    }
    let dialect = refused(Role::Output, &json!({"$schema": url}));
    assert!(matches!(dialect.kind, ErrorKind::Dialect { .. }));
    let data = json!({"const": {"$ref": url}, "default": {"$ref": url}, "enum": [{"$ref": url}]});
    accepted(&json!({"properties": {"a": data, "$ref": {"type": "string"}}}));
    assert!(listener.accept().is_err(), "something connected");
}

#[test]
fn references_resolve_within_the_document() {
    let integer = json!({"type": "integer"});
    for document in [
        json!({"$ref": "#/$defs/a", "$defs": {"a": integer}}),
        json!({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": integer}}),
        json!({"$ref": "#n", "$defs": {"a": {"$anchor": "n", "type": "integer"}}}),
        json!({"$ref": "item", "$defs": {"a": {"$id": "item", "type": "integer"}}}),
        json!({"$ref": "item#/$defs/x", "$defs": {"a": {"$id": "item", "$defs": {"x": integer}}}}),
        json!({"$id": "https://e.com/root", "$ref": "https://e.com/root#/$defs/a", "$defs": {"a": integer}}),
        json!({"$id": "https://e.com/d/root", "$ref": "/item", "$defs": {"a": {"$id": "https://e.com/item", "type": "integer"}}}),
        json!({"$id": "urn:example:root", "$ref": "#/$defs/a", "$defs": {"a": integer}}),
        json!({"$ref": "#/components/a", "components": {"a": integer}}),
        json!({"$ref": "#/components/a", "components": {"a": {"$ref": "#/components/b"}, "b": integer}}),
        json!({"$dynamicRef": "#n", "$defs": {"a": {"$dynamicAnchor": "n", "type": "integer"}}}),
        json!({"$dynamicRef": "#/$defs/a", "$defs": {"a": integer}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#n"}],
            "definitions": {"a": {"$id": "#n", "type": "integer"}}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema", "allOf": [{"$ref": "#/definitions/a"}],
            "definitions": {"a": integer}}),
        json!({"$ref": "#/definitions/a", "definitions": {"a": integer}}),
    ] {
        let schema = accepted(&document);
        assert!(schema.check(&json!(1)).is_ok(), "{document}");
        assert!(schema.check(&json!("x")).is_err(), "{document}");
    }
    for reference in [
        "#/$defs/b",
        "#b",
        "#/$defs/a/type",
        "#%zz",
        "#%ff",
        "#/$defs/a/",
    ] {
        let document = json!({"$ref": reference, "$defs": {"a": integer}});
        let error = refused(Role::Output, &document);
        assert!(
            matches!(error.kind, ErrorKind::DeadReference { .. }),
            "{error}"
        );
    }
}

/// Deep documents are refused before anything recurses along them.
#[test]
fn a_schema_5000_deep_is_refused() {
    let refuse = || {
        let deep = (0..5_000).fold(json!({}), |inner, _| Value::from_iter([("not", inner)]));
        let error = refused(Role::Input, &deep);
        assert_eq!(error.kind, ErrorKind::TooDeep { allowed: 64 });
        assert_eq!(
            error.kind.to_string(),
            "the schema nests deeper than 64 levels; move inner schemas to $defs"
        );
        assert!(error.to_string().chars().count() < 600, "{error}");
    };
    // Building and dropping the value recurses; the check itself does not.
    let big_stack = thread::Builder::new()
        .stack_size(256 * 1024 * 1024)
        .spawn(refuse);
    big_stack.expect("a thread").join().expect("no panic");
}

#[test]
fn the_deepest_admitted_schema_compiles_on_a_small_stack() {
    for keyword in ["not", "properties", "items", "const"] {
        let nest = move |inner: Value| match keyword {
            "properties" => json!({"properties": inner}),
            _ => json!({ keyword: inner }),
        };
        let deepest = (0..63).fold(json!({}), |inner, _| nest(inner));
        let compile = move || {
            let limits = Limits {
                max_chain: 64,
                ..Limits::default()
            };
            Schema::compile(Role::Output, &deepest, &limits).map(|_| ())
        };
        let thread = thread::Builder::new()
            .stack_size(2 * 1024 * 1024)
            .spawn(compile)
            .expect("a thread");
        thread
            .join()
            .expect("no panic")
            .unwrap_or_else(|error| panic!("{keyword}: {error}"));
    }
}

#[test]
fn identifiers_of_any_form_do_no_harm() {
    let ids = [
        "",
        "#",
        "#a",
        "a#",
        "a#b",
        "urn:a:b#",
        "http:",
        "json-schema:///",
        "a b",
        "//",
        "?q",
        "../x",
        "%",
        "é",
    ];
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema",
    ] {
        for id in ids {
            for document in [
                json!({"$schema": dialect, "$id": id, "not": {"$ref": "#/definitions/a"}, "definitions": {"a": {}}}),
                json!({"$schema": dialect, "items": {"$ref": id}, "definitions": {"a": {"$id": id}}}),
                json!({"$schema": dialect, "$id": id, "definitions": {"a": {"$id": id, "$ref": id}}}),
                json!({"$schema": dialect, "$anchor": id, "$dynamicAnchor": id, "items": {"$dynamicRef": id}}),
            ] {
                if let Ok(schema) = Schema::compile(Role::Output, &document, &Limits::default()) {
                    let _ = schema.check(&json!([1]));
                }
            }
        }
    }
}

#[test]
fn a_large_schema_is_refused() {
    let document = json!({"description": "x".repeat(2_000_000)});
    let error = refused(Role::Output, &document);
    assert_eq!(
        error.to_string(),
        "(root): the schema has 2000018 bytes, allowed are 1048576; describe less"
    );
}
