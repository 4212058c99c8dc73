//! Comparing JSON where wording is free: `"*"` stands for any text, `["*"]` for anything at all.

use serde_json::{Value, json};

/// Where the two differ, as JSON Pointers with both values.
pub fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", expected, actual, &mut found);
    found
}

fn compare(place: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    match (expected, actual) {
        (Value::String(any), Value::String(_)) if any == "*" => (),
        (any, _) if *any == json!(["*"]) => (),
        (Value::Object(left), Value::Object(right)) => {
            for key in left
                .keys()
                .chain(right.keys().filter(|key| !left.contains_key(*key)))
            {
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => {
                        compare(&format!("{place}/{key}"), left, right, found);
                    }
                    (left, right) => {
                        found.push(format!("{place}/{key}: expected {left:?}, got {right:?}"));
                    }
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (position, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{place}/{position}"), left, right, found);
            }
        }
        (left, right) if left == right => (),
        (left, right) => found.push(format!("{place}: expected {left}, got {right}")),
    }
}
