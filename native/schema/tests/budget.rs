//! What a schema may cost, and what one check may. Without the budgets, these tests would not end.

use std::thread;

use mcp_schema::{Error, ErrorKind, Limits, Role, Schema};
use serde_json::{Map, Value, json};

fn compile(document: &Value) -> Result<Schema, Error> {
    Schema::compile(Role::Output, document, &Limits::default())
}

/// `levels` definitions, each of them `wrap` around two references to the next.
fn doubling(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), wrap(next));
    }
    definitions.insert(format!("l{levels}"), json!({"type": "integer"}));
    json!({"$ref": "#/$defs/l0", "$defs": definitions})
}

#[test]
fn doubling_references_are_refused() {
    for (keyword, levels) in [("anyOf", 26), ("oneOf", 26), ("allOf", 60)] {
        let document = doubling(levels, |next| json!({ keyword: [next, next] }));
        let error = compile(&document).unwrap_err();
        let ErrorKind::TooCostly {
            found,
            allowed: 10_000,
        } = error.kind
        else {
            panic!("{error}")
        };
        assert!(found > 10_000, "{found}");
        assert!(
            error
                .to_string()
                .contains(&format!("would cost {found} keyword evaluations"))
        );
    }
    // A hundred levels cost more than any counter holds.
    let document = doubling(100, |next| json!({"anyOf": [next, next]}));
    let limits = Limits {
        max_cost: u64::MAX - 1,
        max_chain: 1_000,
        ..Limits::default()
    };
    let error = Schema::compile(Role::Output, &document, &limits).unwrap_err();
    assert!(
        matches!(
            error.kind,
            ErrorKind::TooCostly {
                found: u64::MAX,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn cost_counts_keywords_for_one_value() {
    for (document, cost) in [
        (json!({}), 1),
        (json!({"title": "x", "type": "object"}), 2),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}),
            3,
        ),
        (json!({"allOf": [{"type": "integer"}, {"minimum": 1}]}), 6),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}),
            4,
        ),
        (
            json!({"allOf": [{"properties": {}}], "unevaluatedProperties": false}),
            7,
        ),
    ] {
        let limits = |max_cost| Limits {
            max_cost,
            ..Limits::default()
        };
        let compile = |cost| Schema::compile(Role::Output, &document, &limits(cost));
        assert!(compile(cost).is_ok(), "{document}");
        let error = compile(cost - 1).unwrap_err();
        assert_eq!(
            error.kind,
            ErrorKind::TooCostly {
                found: cost,
                allowed: cost - 1
            },
            "{document}"
        );
    }
}

#[test]
fn recursion_through_other_values_is_free() {
    for document in [
        json!({"type": "object", "properties": {"next": {"$ref": "#"}}}),
        json!({"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}}),
        json!({"$defs": {"e": {"anyOf": [
            {"type": "number"},
            {"properties": {"left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"}}},
        ]}}, "$ref": "#/$defs/e"}),
        json!({"$id": "https://e.com/strict", "$dynamicAnchor": "node", "$ref": "tree",
            "unevaluatedProperties": false,
            "$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "node", "type": "object",
                "properties": {"data": true, "children": {"items": {"$dynamicRef": "#node"}}}}}}),
    ] {
        compile(&document).unwrap_or_else(|error| panic!("{document}: {error}"));
    }
}

#[test]
fn recursion_on_the_same_value_is_refused() {
    for document in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"not": {"$ref": "#"}}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"$dynamicAnchor": "n", "if": {"$dynamicRef": "#n"}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": {"$ref": "#"}}}),
    ] {
        let error = compile(&document).unwrap_err();
        assert_eq!(error.kind, ErrorKind::EndlessReference, "{document}");
    }
}

#[test]
fn a_chain_of_references_is_bounded() {
    let chain = |length: usize| {
        let link = |number: usize| {
            (
                format!("l{number}"),
                json!({"$ref": format!("#/$defs/l{}", number + 1)}),
            )
        };
        let mut definitions: Map<_, _> = (0..length - 2).map(link).collect();
        definitions.insert(format!("l{}", length - 2), json!({}));
        json!({"$ref": "#/$defs/l0", "$defs": definitions})
    };
    assert!(compile(&chain(32)).is_ok());
    let error = compile(&chain(33)).unwrap_err();
    assert_eq!(
        error.kind,
        ErrorKind::ChainTooLong {
            found: 33,
            allowed: 32
        }
    );
    assert_eq!(
        error.kind.to_string(),
        "33 subschemas apply to one value each inside the other, allowed are 32; shorten the chain of references"
    );
    assert!(compile(&chain(5_000)).is_err());
}

/// Draft-07 ignores what stands beside `$ref`, and so does the count.
#[test]
fn draft_07_counts_the_reference_alone() {
    let beside: Vec<_> = (0..40).map(|number| json!({"const": number})).collect();
    let document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "allOf": [{"$ref": "#/definitions/a", "anyOf": beside}],
        "definitions": {"a": {"type": "integer"}},
    });
    let limits = Limits {
        max_cost: 10,
        ..Limits::default()
    };
    assert!(Schema::compile(Role::Output, &document, &limits).is_ok());
}

/// The validator collects the faults of every alternative on every level: 2^60 without the meter.
#[test]
fn explaining_a_deep_instance_of_a_recursive_schema_is_bounded() {
    let operator = |name: &str| {
        json!({"type": "object", "required": ["op", "left"], "properties": {
            "op": {"const": name}, "left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"},
        }})
    };
    let document = json!({
        "type": "object",
        "properties": {"e": {"$ref": "#/$defs/e"}},
        "$defs": {"e": {"anyOf": [operator("add"), operator("sub"), {"type": "number"}]}},
    });
    let schema = compile(&document).expect("a fine schema");
    let nested =
        |depth| (0..depth).fold(json!("x"), |inner, _| json!({"op": "add", "left": inner}));
    let faults = schema.check(&json!({"e": nested(2)})).unwrap_err();
    assert!(faults.to_string().contains("/e/left/left: "), "{faults}");
    let faults = schema.check(&json!({"e": nested(60)})).unwrap_err();
    assert!(!faults.faults.is_empty());
    assert!(
        schema
            .check(&json!({"e": nested(3)["left"]["op"]}))
            .is_err()
    );
}

/// Alternatives that double through properties cost little for one value, but much along an instance.
#[test]
fn doubling_along_the_instance_ends_at_the_meter() {
    let document = doubling(24, |next| {
        let half = json!({"properties": {"a": next}});
        json!({"allOf": [half, half]})
    });
    let schema = compile(&document).expect("cheap for one value");
    let deep = (0..24).fold(json!(1), |inner, _| json!({ "a": inner }));
    let faults = schema.check(&deep).unwrap_err();
    assert_eq!(
        faults.to_string(),
        "(root): expected a value that can be checked with bounded work, got one that cannot: nest it less or make it smaller"
    );
}

#[test]
fn large_instances_are_checked_in_full() {
    let schema = compile(&json!({"type": "array", "items": {"anyOf": [
        {"type": "string"}, {"type": "null"}, {"type": "integer", "minimum": 0},
    ]}}))
    .expect("a fine schema");
    let mut items = vec![json!(7); 500_000];
    assert!(schema.check(&Value::from(items.clone())).is_ok());
    items[499_999] = json!(1.5);
    let faults = schema.check(&Value::from(items)).unwrap_err();
    assert_eq!(faults.faults.len(), 1);
    assert_eq!(faults.faults[0].pointer, "/499999");
}

#[test]
fn many_faults_cost_little() {
    let schema = compile(&json!({"items": {"type": "integer"}})).expect("a fine schema");
    let faults = schema
        .check(&Value::from(vec![json!("x"); 500_000]))
        .unwrap_err();
    assert_eq!(faults.faults.len(), 20);
    assert_eq!(faults.faults[19].pointer, "/19");
    assert!(faults.more);
}

/// The longest admitted chain at each of 64 levels of an instance.
#[test]
fn checking_fits_the_stack() {
    let link = |number: usize| {
        let next = json!({"$ref": format!("#/$defs/l{}", number + 1)});
        (format!("l{number}"), json!({"anyOf": [next]}))
    };
    let mut definitions: Map<_, _> = (0..15).map(link).collect();
    let last = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/l0"}}});
    definitions.insert("l15".to_owned(), last);
    let schema =
        compile(&json!({"$ref": "#/$defs/l0", "$defs": definitions})).expect("at the limit");
    let deep = (0..64).fold(json!("x"), |inner, _| json!({ "a": inner }));
    let check = move || assert!(schema.check(&deep).is_err());
    let thread = thread::Builder::new()
        .stack_size(4 * 1024 * 1024)
        .spawn(check);
    thread.expect("a thread").join().expect("no overflow");
}
