//! The classes of characters that header values are made of.

/// The value as text, if it has visible ASCII characters only.
pub(super) fn visible(value: &[u8]) -> Option<&str> {
    text_of(value, u8::is_ascii_graphic)
}

/// The value as text, if it has visible ASCII, spaces and tabs only: what a plain value may hold
/// (MCP 2026-07-28 basic/transports/streamable-http, "Value Encoding").
pub(super) fn plain(value: &[u8]) -> Option<&str> {
    text_of(value, |byte| matches!(byte, b'\t' | b' '..=b'~'))
}

/// Whether `name` is a `token`, as header names are (RFC 9110 §5.6.2).
pub(super) fn is_token(name: &str) -> bool {
    let is_token_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token_byte)
}

fn text_of(value: &[u8], is_member: impl Fn(&u8) -> bool) -> Option<&str> {
    let is_text = value.iter().all(is_member);
    is_text.then(|| str::from_utf8(value).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_differ_in_white_space() {
        for (value, is_visible, is_plain, token) in [
            ("", true, true, false),
            ("a~!", true, true, true),
            ("a/b", true, true, false),
            ("a b", false, true, false),
            ("a\tb", false, true, false),
            ("a\0", false, false, false),
            ("a\u{7f}", false, false, false),
            ("é", false, false, false),
        ] {
            assert_eq!(visible(value.as_bytes()).is_some(), is_visible, "{value:?}");
            assert_eq!(plain(value.as_bytes()).is_some(), is_plain, "{value:?}");
            assert_eq!(is_token(value), token, "{value:?}");
        }
    }
}
