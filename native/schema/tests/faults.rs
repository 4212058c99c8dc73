//! What a model reads when its arguments do not match.

use mcp_schema::{Fault, Faults, Limits, Role, Schema};
use serde_json::{Value, json};

fn schema(document: &Value) -> Schema {
    Schema::compile(Role::Output, document, &Limits::default())
        .unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn faults(document: &Value, instance: &Value) -> Faults {
    match schema(document).check(instance) {
        Ok(()) => panic!("{instance} matches {document}"),
        Err(faults) => faults,
    }
}

#[test]
fn each_keyword_says_what_it_expects_and_what_came() {
    let wide: Vec<_> = (0..12).map(|number| json!(number)).collect();
    for (document, instance, text) in [
        (
            json!({"type": "integer"}),
            json!("three"),
            r#"(root): expected integer, got string "three""#,
        ),
        (
            json!({"type": ["number", "null"]}),
            json!([1]),
            "(root): expected null or number, got array [1]",
        ),
        (
            json!({"type": "object"}),
            json!(null),
            "(root): expected object, got null",
        ),
        (
            json!({"type": "integer"}),
            json!(1.5),
            "(root): expected integer, got number 1.5",
        ),
        (
            json!({"enum": ["c", "f"]}),
            json!("kelvin"),
            r#"(root): expected one of "c", "f", got "kelvin""#,
        ),
        (json!({"enum": [1]}), json!(2), "(root): expected 1, got 2"),
        (
            json!({"enum": wide}),
            json!("x"),
            r#"(root): expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more, got "x""#,
        ),
        (
            json!({"const": {"a": 1}}),
            json!(5),
            r#"(root): expected {"a":1}, got 5"#,
        ),
        (
            json!({"minimum": 0}),
            json!(-5),
            "(root): expected at least 0, got -5",
        ),
        (
            json!({"maximum": 1.5}),
            json!(2),
            "(root): expected at most 1.5, got 2",
        ),
        (
            json!({"exclusiveMinimum": 0}),
            json!(0),
            "(root): expected more than 0, got 0",
        ),
        (
            json!({"exclusiveMaximum": 9}),
            json!(9),
            "(root): expected less than 9, got 9",
        ),
        (
            json!({"multipleOf": 5}),
            json!(7),
            "(root): expected a multiple of 5, got 7",
        ),
        (
            json!({"minLength": 3}),
            json!("ab"),
            r#"(root): expected at least 3 characters, got "ab" (2 characters)"#,
        ),
        (
            json!({"maxLength": 1}),
            json!("äöü"),
            r#"(root): expected at most 1 character, got "äöü" (3 characters)"#,
        ),
        (
            json!({"pattern": "^[a-z]+$"}),
            json!("A1"),
            r#"(root): expected a match of the pattern "^[a-z]+$", got string "A1""#,
        ),
        (
            json!({"minItems": 2}),
            json!([1]),
            "(root): expected at least 2 items, got 1 item",
        ),
        (
            json!({"maxItems": 0}),
            json!([1]),
            "(root): expected at most 0 items, got 1 item",
        ),
        (
            json!({"uniqueItems": true}),
            json!(["a", "b", "a"]),
            "(root): expected items that all differ, got item 2 equal to item 0",
        ),
        (
            json!({"contains": {"type": "string"}}),
            json!([1]),
            r#"(root): expected the number of matching items that "contains" asks for, got array [1]"#,
        ),
        (
            json!({"prefixItems": [{}], "items": false}),
            json!([1, 2]),
            "/1: expected no value, got 2",
        ),
        (
            json!({"prefixItems": [{}], "unevaluatedItems": false}),
            json!([1, 2]),
            "(root): expected no further items, got 2 items",
        ),
        (
            json!({"minProperties": 1}),
            json!({}),
            "(root): expected at least 1 property, got 0 properties",
        ),
        (
            json!({"maxProperties": 1}),
            json!({"a": 1, "b": 2}),
            "(root): expected at most 1 property, got 2 properties",
        ),
        (
            json!({"required": ["place"]}),
            json!({}),
            r#"(root): missing required property "place""#,
        ),
        (
            json!({"dependentRequired": {"card": ["holder"]}}),
            json!({"card": 1}),
            r#"(root): missing required property "holder""#,
        ),
        (
            json!({"properties": {"color": {}, "size": {}}, "additionalProperties": false}),
            json!({"colour": 1}),
            r#"(root): unknown property "colour", expected only "color", "size""#,
        ),
        (
            json!({"additionalProperties": false}),
            json!({"a": 1, "b": 2}),
            r#"(root): unknown properties "a", "b", expected no other property"#,
        ),
        (
            json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
            json!({"b": 1}),
            r#"(root): unknown property "b", expected only "a""#,
        ),
        (
            json!({"propertyNames": {"maxLength": 2}}),
            json!({"abc": 1}),
            r#"(root): expected property names to be at most 2 characters, got string "abc""#,
        ),
        (
            json!({"not": {"const": 1}}),
            json!(1),
            r#"(root): expected a value that does not match {"const":1}, got 1"#,
        ),
        (
            json!({"properties": {"a": false}}),
            json!({"a": "x"}),
            r#"/a: expected no value, got string "x""#,
        ),
        (
            json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
            json!({}),
            r#"(root): missing required property "c""#,
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"maximum": 5}]}),
            json!(3),
            "(root): expected a match of exactly one alternative, got 3",
        ),
    ] {
        assert_eq!(faults(&document, &instance).to_string(), text, "{document}");
    }
}

#[test]
fn draft_07_keywords_are_told_too() {
    for (keywords, instance, text) in [
        (
            json!({"items": [{}], "additionalItems": false}),
            json!([1, 2]),
            "(root): expected at most 1 item, got 2 items",
        ),
        (
            json!({"dependencies": {"a": ["b"]}}),
            json!({"a": 1}),
            r#"(root): missing required property "b""#,
        ),
        (
            json!({"contentEncoding": "base64"}),
            json!("?"),
            r#"(root): expected base64 text, got string "?""#,
        ),
        (
            json!({"contentMediaType": "application/json"}),
            json!("{"),
            r#"(root): expected application/json text, got string "{""#,
        ),
    ] {
        let mut document = keywords;
        document["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        assert_eq!(faults(&document, &instance).to_string(), text, "{document}");
    }
}

#[test]
fn alternatives_that_lack_one_thing_each_are_told_in_one_clause() {
    for (document, instance, text) in [
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            json!(true),
            "(root): expected integer or string, got boolean true",
        ),
        (
            json!({"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}),
            json!({}),
            r#"(root): missing required property "phone" or property "email""#,
        ),
        (
            json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}),
            json!("c"),
            r#"(root): expected "a" or "b", got string "c""#,
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"enum": ["x", "y"]}]}),
            json!("z"),
            r#"(root): expected null or one of "x", "y", got string "z""#,
        ),
    ] {
        assert_eq!(faults(&document, &instance).to_string(), text, "{document}");
    }
}

/// Type or tag tell which alternative was meant, at any depth and however many there are.
#[test]
fn faults_of_tagged_unions_are_those_of_the_alternative_meant() {
    let element = |kind: &str| {
        json!({"type": "object", "required": ["kind", "children"], "properties": {
            "kind": {"const": kind},
            "children": {"type": "array", "items": {"$ref": "#/$defs/element"}},
        }, "additionalProperties": false})
    };
    let kinds = [
        "row", "column", "card", "list", "grid", "tab", "form", "page", "menu", "bar",
    ];
    let mut alternatives: Vec<_> = kinds.into_iter().map(element).collect();
    alternatives.push(json!({"type": "string", "maxLength": 5}));
    let document =
        json!({"$ref": "#/$defs/element", "$defs": {"element": {"oneOf": alternatives}}});
    let nested = |leaf: Value| {
        (0..20).fold(
            leaf,
            |inner, _| json!({"kind": "card", "children": [inner]}),
        )
    };
    let place = "/children/0".repeat(20);
    for (leaf, text) in [
        (json!(7), ": expected string or object, got integer 7"),
        (
            json!("too long"),
            ": expected at most 5 characters, got \"too long\" (8 characters)",
        ),
        (
            json!({"kind": "row"}),
            ": missing required property \"children\"",
        ),
        (
            json!({"children": []}),
            ": missing required property \"kind\"",
        ),
        (
            json!({"kind": "roww", "children": []}),
            "/kind: expected one of \"row\", \"column\", \"card\", \"list\", \"grid\", \"tab\", \"form\", \
             \"page\", \"menu\", \"bar\", got \"roww\"",
        ),
        (
            json!({"kind": "row", "children": [], "id": 1}),
            ": unknown property \"id\", expected only \"kind\", \"children\"",
        ),
    ] {
        assert_eq!(
            faults(&document, &nested(leaf)).to_string(),
            format!("{place}{text}")
        );
    }
    assert!(schema(&document).check(&nested(json!("text"))).is_ok());
}

#[test]
fn of_other_alternatives_the_nearest_is_told() {
    let document = json!({"anyOf": [
        {"type": "string"},
        {"required": ["number"], "properties": {"number": {"type": "string"}}},
        {"required": ["iban"], "properties": {"iban": {"type": "string"}, "name": {"const": "x"}}},
    ]});
    for (instance, text) in [
        (
            json!({"iban": 7}),
            "(root): missing required property \"number\" in the nearest of 3 alternatives",
        ),
        (
            json!({"iban": 7, "number": 8}),
            "/number: expected string in the nearest of 3 alternatives, got integer 8",
        ),
    ] {
        assert_eq!(faults(&document, &instance).to_string(), text);
    }
    let document =
        json!({"anyOf": [{"type": "object"}, {"type": "string", "minLength": 2, "pattern": "^a"}]});
    assert_eq!(
        faults(&document, &json!(5)).to_string(),
        "(root): expected string or object, got integer 5"
    );
}

#[test]
fn the_first_twenty_come_in_document_order() {
    let properties: serde_json::Map<_, _> = (0..30)
        .rev()
        .map(|number| (format!("p{number}"), json!({"type": "string"})))
        .collect();
    let document = json!({"type": "object", "properties": properties, "required": ["z"]});
    let instance: Value = (0..30)
        .map(|number| (format!("p{number}"), json!(number)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let found = faults(&document, &instance);
    assert_eq!(found.faults.len(), 20);
    assert!(found.more);
    let places: Vec<_> = found
        .faults
        .iter()
        .map(|fault| fault.pointer.as_str())
        .collect();
    assert_eq!(places[..3], ["", "/p0", "/p1"]);
    assert_eq!(places[19], "/p18");
    assert!(found.to_string().ends_with("got integer 18\nand more"));
    assert_eq!(found.to_string().lines().count(), 21);
}

#[test]
fn a_fault_found_twice_is_told_once() {
    let document = json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
        "$defs": {"a": {"type": "string"}}});
    let found = faults(&document, &json!(1));
    assert_eq!(
        found,
        Faults {
            faults: vec![Fault {
                pointer: String::new(),
                keyword: "type".to_owned(),
                expected: "string".to_owned(),
                received: "integer 1".to_owned(),
            }],
            more: false,
        }
    );
}

#[test]
fn pointers_and_values_of_any_length_stay_short() {
    let key = "k".repeat(100_000);
    let document = json!({"additionalProperties": {"type": "integer"}});
    let line = faults(&document, &json!({ key: "v".repeat(100_000) })).to_string();
    assert!(line.chars().count() < 600, "{line}");
    let document = json!({"additionalProperties": false});
    let line = faults(&document, &json!({ "k".repeat(100_000): 1 })).to_string();
    assert!(line.chars().count() < 600, "{line}");
}

#[test]
fn pointers_are_escaped() {
    let document = json!({"properties": {"a/b": {"properties": {"m~n": {"type": "null"}}}}});
    let found = faults(&document, &json!({"a/b": {"m~n": 1}}));
    assert_eq!(found.faults[0].pointer, "/a~1b/m~0n");
    assert_eq!(
        found.to_string(),
        "/a~1b/m~0n: expected null, got integer 1"
    );
}

#[test]
fn names_declared_elsewhere_are_not_offered() {
    let document = json!({
        "$id": "https://example.com/root",
        "properties": {"inner": {"$ref": "inner"}, "own": {"$ref": "#closed"}},
        "additionalProperties": false,
        "$defs": {
            "inner": {"$id": "inner", "properties": {"a": {}}, "additionalProperties": false},
            "closed": {"$anchor": "closed", "properties": {"b": {}}, "additionalProperties": false},
        },
    });
    assert_eq!(
        faults(
            &document,
            &json!({"inner": {"x": 1}, "own": {"y": 1}, "z": 1})
        )
        .to_string(),
        "(root): unknown property \"z\", expected only \"inner\", \"own\"\n\
         /inner: unknown property \"x\", expected no other property\n\
         /own: unknown property \"y\", expected only \"b\""
    );
}
