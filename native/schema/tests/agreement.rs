//! Random instances: ours and the plain validator agree on what is valid.

use jsonschema::{Draft, PatternOptions};
use mcp_schema::{Limits, Role, Schema};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "object", "properties": {
            "a": {"type": "integer", "minimum": -3, "multipleOf": 2},
            "b": {"type": ["string", "null"], "minLength": 1, "maxLength": 3, "pattern": "^[ab]*$"},
            "c": {"type": "array", "items": {"type": "number"}, "uniqueItems": true, "maxItems": 3},
            "d": {"$ref": "#"},
        }, "required": ["a"], "additionalProperties": false}),
        json!({"anyOf": [{"type": "integer"}, {"items": {"$ref": "#"}, "minItems": 1, "type": "array"},
            {"properties": {"a": {"$ref": "#"}}, "required": ["a"], "not": {"required": ["b"]}}]}),
        json!({"allOf": [{"properties": {"a": true}}, {"patternProperties": {"^[bc]": {"type": "integer"}}}],
            "unevaluatedProperties": {"type": "boolean"}, "propertyNames": {"maxLength": 1}}),
        json!({"if": {"type": "object"}, "then": {"minProperties": 1, "dependentRequired": {"a": ["b"]}},
            "else": {"enum": [null, 1, "a", [1], true]}}),
        json!({"oneOf": [{"contains": {"const": 1}}, {"prefixItems": [{"type": "string"}], "items": false}]}),
        json!({"oneOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"const": "a"}, "b": {"$ref": "#"}}},
            {"type": "object", "required": ["a"], "properties": {"a": {"enum": ["b", ""]}, "c": {"$ref": "#"}},
                "additionalProperties": false},
            {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "integer"}, {"$ref": "#"}]}},
            {"type": "boolean"},
        ]}),
        json!({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "number", "minimum": 0}],
            "allOf": [{"not": {"const": 1}}]}),
        json!({"uniqueItems": true, "unevaluatedItems": false, "prefixItems": [{}, {"not": {"type": "null"}}]}),
    ]
}

fn instances() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        (-5_i64..5).prop_map(|number| json!(number)),
        Just(json!(1.0)),
        Just(json!(0.5)),
        Just(serde_json::from_str("123456789012345678901234567890").expect("a number")),
    ];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        "[abü]{0,4}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 4, |inner| {
        let members = prop::collection::vec(("[abcd]", inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn validity_agrees_and_faults_explain(instance in instances()) {
        for document in schemas() {
            let schema = Schema::compile(Role::Output, &document, &Limits::default()).expect("a schema");
            let plain = jsonschema::options()
                .with_draft(Draft::Draft202012)
                .with_pattern_options(PatternOptions::regex())
                .build(&document)
                .expect("a schema");
            let checked = schema.check(&instance);
            prop_assert_eq!(checked.is_ok(), plain.is_valid(&instance), "{} {}", document, instance);
            let text = instance.to_string().into_bytes().into();
            let message = mcp_json::Document::parse(text, &mcp_json::Limits::default()).expect("JSON");
            prop_assert_eq!(&schema.check_node(message.root()), &checked, "{} {}", document, instance);
            let Err(faults) = checked else { continue };
            prop_assert!((1..=20).contains(&faults.faults.len()));
            prop_assert!(!faults.more);
            for fault in &faults.faults {
                let place = instance.pointer(&fault.pointer);
                prop_assert!(place.is_some(), "{} {} {}", document, instance, fault);
                prop_assert!(!fault.keyword.is_empty(), "{} {} {}", document, instance, fault);
                prop_assert!(!fault.expected.is_empty() && !fault.received.is_empty());
            }
        }
    }
}
