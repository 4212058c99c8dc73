//! Values as short text: what a fault or an error shows of them.

use std::io;

use serde_json::Value;

/// Characters of a value that a fault shows.
const SHOWN: usize = 60;

/// `value` as compact JSON, cut to a length fit for one line.
pub(crate) fn short(value: &Value) -> String {
    let mut start = Start {
        bytes: Vec::new(),
        room: SHOWN * 4,
    };
    // The writer fails on purpose once it is full: the rest of a large value is never rendered.
    let whole = serde_json::to_writer(&mut start, value).is_ok();
    let text = String::from_utf8_lossy(&start.bytes);
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
    if whole {
        cut(text, SHOWN)
    } else {
        cut(&format!("{text}…"), SHOWN)
    }
}

/// `value` as [`short`] text after the name of its type.
pub(crate) fn typed(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        _ => format!("{} {}", type_name(value), short(value)),
    }
}

/// `text` as a JSON string, cut to a length fit for one line.
pub(crate) fn quoted(text: &str) -> String {
    let end = text
        .char_indices()
        .nth(SHOWN)
        .map_or(text.len(), |(at, _)| at);
    short(&Value::from(&text[..end]))
}

/// The JSON Schema type of `value`; a number written without fraction and exponent is an integer.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_str().contains(['.', 'e', 'E']) => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `text` cut to `room` characters, the last of them `…` where something is missing.
pub(crate) fn cut(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        None => text.to_owned(),
        Some(_) => text.chars().take(room - 1).chain(['…']).collect(),
    }
}

/// Characters of a JSON Pointer that are shown, from its start and from its end.
const SHOWN_PLACE: (usize, usize) = (100, 300);

/// `pointer` for people: the root by name.
pub(crate) fn place(pointer: &str) -> String {
    if pointer.is_empty() {
        "(root)".to_owned()
    } else {
        cut_middle(pointer)
    }
}

/// `pointer`, without its middle when it is very long.
pub(crate) fn cut_middle(pointer: &str) -> String {
    let (start, end) = SHOWN_PLACE;
    let count = pointer.chars().count();
    if count <= start + end {
        return pointer.to_owned();
    }
    let start = pointer.chars().take(start);
    start
        .chain(['…'])
        .chain(pointer.chars().skip(count - end))
        .collect()
}

/// `count` and `noun`, with an `s` unless there is exactly one.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// Takes the first `room` bytes and fails after them.
struct Start {
    bytes: Vec<u8>,
    room: usize,
}

impl io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room - self.bytes.len();
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            Err(io::ErrorKind::WriteZero.into())
        } else {
            Ok(bytes.len())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{counted, cut, place, quoted, short, typed};

    #[test]
    fn values_carry_their_type() {
        assert_eq!(typed(&json!("three")), r#"string "three""#);
        assert_eq!(typed(&json!(3)), "integer 3");
        assert_eq!(typed(&json!(1.5)), "number 1.5");
        assert_eq!(typed(&json!(true)), "boolean true");
        assert_eq!(typed(&json!(null)), "null");
        assert_eq!(typed(&json!([1, {"a": 2}])), r#"array [1,{"a":2}]"#);
        assert_eq!(typed(&json!({})), "object {}");
    }

    #[test]
    fn long_values_are_cut() {
        let long = short(&json!("ü".repeat(1_000_000)));
        assert_eq!(long.chars().count(), 60);
        assert!(long.ends_with("ü…"), "{long}");
        let list = short(&json!(vec![12345; 100_000]));
        assert_eq!(list.chars().count(), 60);
        assert_eq!(quoted(&"k".repeat(1000)).chars().count(), 60);
        assert_eq!(short(&json!("\u{1F980}".repeat(59))).chars().count(), 60);
        assert_eq!(quoted("a\"b"), r#""a\"b""#);
    }

    #[test]
    fn long_pointers_keep_both_ends() {
        assert_eq!(place(""), "(root)");
        assert_eq!(place("/a"), "/a");
        let long = place(&format!("/start/{}/end", "ü".repeat(1000)));
        assert_eq!(long.chars().count(), 401);
        assert!(
            long.starts_with("/start/") && long.ends_with("/end"),
            "{long}"
        );
        assert_eq!(place(&long).chars().count(), 401);
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(counted(1, "item"), "1 item");
        assert_eq!(counted(0, "item"), "0 items");
    }
}
