//! Dialects, references and values as the trials have them.

use mcp_schema::{Dialect, Limits, Role, Schema};
use serde_json::{Value, json};

fn compile(document: &Value) -> Schema {
    Schema::compile(Role::Output, document, &Limits::default())
        .unwrap_or_else(|error| panic!("{document}: {error}"))
}

#[track_caller]
fn assert_checks(document: &Value, valid: &[Value], invalid: &[Value]) {
    let schema = compile(document);
    for instance in valid {
        assert_eq!(
            schema.check(instance),
            Ok(()),
            "{instance} against {document}"
        );
    }
    for instance in invalid {
        assert!(
            schema.check(instance).is_err(),
            "{instance} against {document}"
        );
    }
}

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

/// Trial X20, SCH-1, SCH-3.
#[test]
fn each_document_is_read_in_its_dialect() {
    assert_eq!(compile(&json!({})).dialect(), Dialect::Draft202012);
    assert_eq!(
        compile(&json!({"$schema": DRAFT_07})).dialect(),
        Dialect::Draft07
    );
    let (good, bad) = ([json!([1, "a"]), json!([1])], [json!(["a"]), json!([1, 2])]);
    let pair = json!([{"type": "integer"}, {"type": "string"}]);
    assert_checks(&json!({"$schema": DRAFT_07, "items": pair}), &good, &bad);
    assert_checks(&json!({"prefixItems": pair}), &good, &bad);
    let unknown = json!({"$schema": DRAFT_07, "prefixItems": pair});
    assert_checks(&unknown, &bad, &[]);
    let list_of_items = Schema::compile(Role::Output, &json!({"items": pair}), &Limits::default());
    assert!(list_of_items.is_err(), "2020-12 has no list under items");
    let beside =
        json!({"$defs": {"a": {"type": "integer"}}, "items": {"$ref": "#/$defs/a", "minimum": 5}});
    assert_checks(&beside, &[json!([7])], &[json!([3]), json!(["x"])]);
    let mut ignored = beside;
    ignored["$schema"] = json!(DRAFT_07);
    assert_checks(&ignored, &[json!([7]), json!([3])], &[json!(["x"])]);
    let same = json!({"$schema": DRAFT_07, "items": {"$schema": "https://json-schema.org/draft-07/schema"}});
    assert_checks(&same, &[json!([1])], &[]);
}

/// Trial X04.
#[test]
fn recursive_definitions_check_through_references() {
    for (shelf, dialect) in [("definitions", Some(DRAFT_07)), ("$defs", None)] {
        let node = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": format!("#/{shelf}/Node")}},
        }});
        let mut document = json!({"$ref": format!("#/{shelf}/Node"), shelf: {"Node": node}});
        if let Some(dialect) = dialect {
            document["$schema"] = json!(dialect);
        }
        let good = json!({"name": "a", "children": [{"name": "b", "children": []}]});
        let bad = json!({"name": "a", "children": [{"name": "b", "children": [{}]}]});
        assert_checks(
            &document,
            std::slice::from_ref(&good),
            std::slice::from_ref(&bad),
        );
        let faults = compile(&document).check(&bad).unwrap_err();
        assert_eq!(
            faults.to_string(),
            "/children/0/children/0: missing required property \"name\""
        );
    }
}

/// Trial X21.
#[test]
fn nullable_annotates_and_type_lists_admit() {
    let document = json!({"type": "string", "nullable": true});
    assert_checks(&document, &[json!("a")], &[json!(null)]);
    let document = json!({"type": ["number", "null"]});
    assert_checks(
        &document,
        &[json!(1.5), json!(null)],
        &[json!("1"), json!(true)],
    );
}

/// SCH-13.
#[test]
fn formats_and_defaults_annotate() {
    for dialect in [DRAFT_07, "https://json-schema.org/draft/2020-12/schema"] {
        let document = json!({"$schema": dialect, "format": "email", "default": 5,
            "contentSchema": {"type": "integer"}, "properties": {"day": {"format": "date"}}});
        assert_checks(
            &document,
            &[json!("no address"), json!({"day": "yesterday"})],
            &[],
        );
    }
}

#[test]
fn keywords_of_2020_12_all_count() {
    for (document, valid, invalid) in [
        (
            json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            json!({"b": 1}),
        ),
        (
            json!({"prefixItems": [{}], "unevaluatedItems": {"type": "null"}}),
            json!([1, null]),
            json!([1, 2]),
        ),
        (
            json!({"contains": {"const": 1}, "minContains": 2, "maxContains": 3}),
            json!([1, 1]),
            json!([1]),
        ),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"c": ["d"]}}),
            json!({"a": 1, "b": 1}),
            json!({"c": 1}),
        ),
        (
            json!({"propertyNames": {"pattern": "^[a-z]+$"}}),
            json!({"a": 1}),
            json!({"A": 1}),
        ),
        (
            json!({"patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": {"type": "string"}}),
            json!({"n1": 1, "x": "y"}),
            json!({"n1": "y"}),
        ),
        (
            json!({"$id": "https://e.com/strict", "$dynamicAnchor": "node", "$ref": "tree",
                "unevaluatedProperties": false,
                "$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "node", "type": "object",
                    "properties": {"data": true, "children": {"items": {"$dynamicRef": "#node"}}}}}}),
            json!({"children": [{"data": 1}]}),
            json!({"children": [{"daat": 1}]}),
        ),
        (json!({"pattern": "^\\p{L}+$"}), json!("äb"), json!("1")),
    ] {
        assert_checks(&document, &[valid], &[invalid]);
    }
}

#[test]
fn numbers_are_exact_at_any_length() {
    let number = |text: &str| -> Value { serde_json::from_str(text).expect(text) };
    let nines = "9".repeat(300);
    let big = number(&nines);
    let (one_less, one_more) = (
        format!("{}8", "9".repeat(299)),
        format!("1{}", "0".repeat(300)),
    );
    let (one_less, one_more) = (number(&one_less), number(&one_more));
    let fraction = number(&format!("{nines}.5"));
    let both = [big.clone(), one_less.clone()];
    let document = |keyword: &str, limit: &Value| Value::from_iter([(keyword, limit.clone())]);
    assert_checks(
        &json!({"type": "integer"}),
        &both,
        std::slice::from_ref(&fraction),
    );
    assert_checks(
        &json!({"type": "number"}),
        &[big.clone(), fraction.clone()],
        &[],
    );
    assert_checks(
        &document("minimum", &big),
        &[big.clone(), one_more.clone()],
        std::slice::from_ref(&one_less),
    );
    assert_checks(
        &document("maximum", &big),
        &both,
        std::slice::from_ref(&one_more),
    );
    assert_checks(
        &document("exclusiveMinimum", &one_less),
        std::slice::from_ref(&big),
        std::slice::from_ref(&one_less),
    );
    assert_checks(
        &document("exclusiveMaximum", &big),
        std::slice::from_ref(&one_less),
        std::slice::from_ref(&big),
    );
    assert_checks(
        &json!({"multipleOf": 9}),
        &[big.clone(), json!(18)],
        &[one_less.clone(), json!(19)],
    );
    assert_checks(
        &document("multipleOf", &big),
        &[big.clone(), json!(0)],
        &[one_more],
    );
    assert_checks(
        &document("const", &big),
        std::slice::from_ref(&big),
        std::slice::from_ref(&one_less),
    );
    assert_checks(&json!({"enum": [big]}), &both[..1], &both[1..]);
    assert_checks(
        &json!({"uniqueItems": true}),
        &[json!([big, one_less])],
        &[json!([big, big])],
    );
    assert_checks(
        &json!({"multipleOf": 0.01}),
        &[number("0.07"), number("19.99")],
        &[number("0.075")],
    );
    assert_checks(
        &json!({"type": "integer"}),
        &[number("1.0"), number("1e3"), number("-0.0")],
        &[],
    );
    let longest = number(&"9".repeat(4096));
    for keyword in [
        "minimum",
        "maximum",
        "multipleOf",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ] {
        let _ = compile(&json!({ keyword: 7 })).check(&longest);
        let _ = compile(&json!({ keyword: 0.7 })).check(&longest);
        let _ = compile(&document(keyword, &longest)).check(&json!(0.1));
    }
}

/// The schema of the conformance suite's tool `json_schema_2020_12_tool`.
#[test]
fn the_conformance_schema_compiles_and_checks() {
    let document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    let schema = Schema::compile(Role::Input, &document, &Limits::default()).expect("compiles");
    let good =
        json!({"name": "A", "address": {"city": "B"}, "contactMethod": "phone", "phone": "1"});
    assert_eq!(schema.check(&good), Ok(()));
    assert_eq!(schema.check(&json!({"email": "a@b"})), Ok(()));
    let bad = json!({"contactMethod": "fax", "address": {"city": 7}, "fax": "1"});
    assert_eq!(
        schema.check(&bad).unwrap_err().to_string(),
        "(root): unknown property \"fax\", expected only \"name\", \"address\", \"contactMethod\", \
         \"phone\", \"email\"\n\
         (root): missing required property \"phone\" or property \"email\"\n\
         (root): missing required property \"email\"\n\
         /contactMethod: expected one of \"phone\", \"email\", got \"fax\"\n\
         /address/city: expected string, got integer 7"
    );
}

#[test]
fn schemas_are_shared_between_threads() {
    fn assert_shared<T: Send + Sync + 'static>() {}
    assert_shared::<Schema>();
}
