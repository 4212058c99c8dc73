//! The part of a peer's value that a refusal may show.

/// The most characters of a value that are shown.
const MAX_CHARS: usize = 100;

/// `value` in quotation marks: escaped, shortened to 100 characters, so that no message grows or breaks
/// a line with what a peer sent.
pub(super) fn excerpt(value: &[u8]) -> String {
    // A character has at most four bytes, so what is cut off here could not be shown.
    let start = &value[..value.len().min(4 * MAX_CHARS + 4)];
    let text = String::from_utf8_lossy(start);
    let mut chars = text.chars();
    let shown: String = chars.by_ref().take(MAX_CHARS).collect();
    let rest = if chars.next().is_some() { "…" } else { "" };
    format!("\"{}{rest}\"", shown.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes() {
        assert_eq!(excerpt(b""), r#""""#);
        assert_eq!(excerpt(b"a\"\r\n\x1b"), r#""a\"\r\n\u{1b}""#);
        assert_eq!(excerpt(&[b'a', 0xFF]), "\"a\u{FFFD}\"");
    }

    #[test]
    fn shows_a_hundred_characters() {
        let long = "é".repeat(1_000);
        assert_eq!(
            excerpt(long.as_bytes()),
            format!("\"{}…\"", "é".repeat(100))
        );
        let fits = "𝄞".repeat(100);
        assert_eq!(excerpt(fits.as_bytes()), format!("\"{fits}\""));
        assert_eq!(excerpt("𝄞".repeat(101).as_bytes()), format!("\"{fits}…\""));
    }
}
