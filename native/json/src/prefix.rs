//! The id of a message that was cut.

use std::str;

use crate::{Kind, Limits, Node, Number, parser};

/// Recovers the `id` of a message of which only a prefix was kept: its JSON text, a string or integer.
///
/// The `id` must be a complete member of the outermost object, and the prefix must be what
/// [`Document::parse`](crate::Document::parse) accepts up to the cut; members after the cut are unknown,
/// so that a second `id` there goes unnoticed. Linear in the prefix.
pub fn id_in_prefix(prefix: &[u8]) -> Option<String> {
    parser::check_size(prefix.len()).ok()?;
    let text = whole_characters(prefix)?;
    let tape = parser::parse_cut(text, &Limits::default())?;
    let id = Node::new(text, &tape, 0).get("id")?;
    let valid = match id.number() {
        Some(number) => !matches!(number, Number::Float(_)),
        None => id.kind() == Kind::String,
    };
    valid.then(|| id.raw().to_owned())
}

/// The prefix without the character that the cut went through.
fn whole_characters(prefix: &[u8]) -> Option<&str> {
    match str::from_utf8(prefix) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(&prefix[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::id_in_prefix;

    #[test]
    fn a_complete_id_is_returned_as_it_came() {
        assert_id(
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"xxx"#,
            "7",
        );
        assert_id(
            r#"{"method":"m","params":{"id":[{"id":3}]},"id":"a\u0062","x"#,
            r#""a\u0062""#,
        );
        assert_id(r#"{"\u0069d":"k","params":["#, r#""k""#);
        assert_id(r#"{"id":"at the cut""#, r#""at the cut""#);
        assert_id(r#"{"id":-0}"#, "-0");
        assert_id(
            r#"{"id":123456789012345678901234567890,"#,
            "123456789012345678901234567890",
        );
        assert_id(r#"{"id":1,"a":tru"#, "1");
        assert_id(r#"{"id":1,"a":-"#, "1");
        assert_id(r#"{"id":1,"a":"\ud83d"#, "1");
        assert_id(r#"{"id":1,"a":{"b":[]},"c":[1,[2"#, "1");
    }

    #[test]
    fn an_incomplete_id_is_none() {
        for prefix in [
            "",
            "{",
            r#"{"id"#,
            r#"{"id""#,
            r#"{"id":"#,
            r#"{"id":12"#,
            r#"{"id":"ab"#,
        ] {
            assert_eq!(id_in_prefix(prefix.as_bytes()), None, "{prefix}");
        }
    }

    #[test]
    fn only_a_member_of_the_outermost_object_counts() {
        for prefix in [
            r#"{"params":{"id":1},"#,
            r#"{"params":{"id":1,"#,
            r#"[{"id":1},"#,
            r#"["id",1,"#,
            r#"{"ID":1,"#,
        ] {
            assert_eq!(id_in_prefix(prefix.as_bytes()), None, "{prefix}");
        }
    }

    #[test]
    fn an_id_must_be_a_string_or_an_integer() {
        for id in ["null", "true", "1.0", "1e2", "[1]", r#"{"a":1}"#] {
            assert_eq!(
                id_in_prefix(format!(r#"{{"id":{id},"#).as_bytes()),
                None,
                "{id}"
            );
        }
    }

    #[test]
    fn a_fault_before_the_cut_is_none() {
        let deep = format!(r#"{{"id":1,"a":{}"#, "[".repeat(64));
        for prefix in [
            r#"{"id":1,"id":2,"#,
            r#"{"id":1,"id":1"#,
            r#"{"id":1,"a":{"b":1,"b":2},"#,
            r#"{"id":1,,"#,
            r#"{"id":1} x"#,
            r#"{"id":1,"a":"\ude00"#,
            r#"{"id":1,"a":01"#,
            "{\"id\":1,\"a\":\"\n",
            &deep,
        ] {
            assert_eq!(id_in_prefix(prefix.as_bytes()), None, "{prefix}");
        }
        assert_eq!(id_in_prefix(b"{\"id\":1,\"a\":\"\xFF"), None);
    }

    #[test]
    fn a_cut_inside_a_character_is_no_fault() {
        assert_eq!(
            id_in_prefix(b"{\"id\":1,\"a\":\"\xF0\x9F").as_deref(),
            Some("1")
        );
        assert_eq!(
            id_in_prefix(b"{\"id\":1,\"a\":\"\xF0\x9F\x98\x80\xC3").as_deref(),
            Some("1")
        );
    }

    #[track_caller]
    fn assert_id(prefix: &str, id: &str) {
        assert_eq!(id_in_prefix(prefix.as_bytes()).as_deref(), Some(id));
    }
}
