//! What a JSON value is, in 32 bytes: equal for texts that differ in white space, escapes and the order of members.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The digest of a value. Numbers are told apart by how they are written.
pub(crate) fn digest(value: &Value) -> [u8; 32] {
    let mut hash = Sha256::new();
    feed(&mut hash, value);
    hash.finalize().into()
}

/// Every part says its kind and how long it is, so that no two values feed the same bytes.
fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hash.update(b"n"),
        Value::Bool(false) => hash.update(b"f"),
        Value::Bool(true) => hash.update(b"t"),
        Value::Number(number) => text(hash, b"d", &number.to_string()),
        Value::String(string) => text(hash, b"s", string),
        Value::Array(items) => {
            length(hash, b"a", items.len());
            for item in items {
                feed(hash, item);
            }
        }
        Value::Object(members) => {
            length(hash, b"o", members.len());
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            for (name, member) in sorted {
                text(hash, b"k", name);
                feed(hash, member);
            }
        }
    }
}

fn text(hash: &mut Sha256, kind: &[u8], text: &str) {
    length(hash, kind, text.len());
    hash.update(text);
}

fn length(hash: &mut Sha256, kind: &[u8], length: usize) {
    hash.update(kind);
    hash.update((length as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> [u8; 32] {
        digest(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn the_order_of_members_and_the_spelling_do_not_matter() {
        let one = of(r#"{"a": [1, "\u0061"], "b": {"c": null, "d": true}}"#);
        let other = of(r#"{"b":{"d":true,"c":null},"a":[1,"a"]}"#);
        assert_eq!(one, other);
    }

    #[test]
    fn different_values_differ() {
        let values = [
            "null",
            "false",
            "true",
            "0",
            "\"0\"",
            "[]",
            "{}",
            "[[]]",
            "[[],[]]",
            "[\"a\",\"b\"]",
            "[\"ab\",\"\"]",
            "{\"a\":1}",
            "{\"a\":\"1\"}",
            "{\"a\":{}}",
            "[1,2]",
            "[12]",
            "1.0",
        ];
        let mut digests: Vec<_> = values.map(of).into();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), values.len());
    }
}
