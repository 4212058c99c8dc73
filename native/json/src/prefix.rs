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
