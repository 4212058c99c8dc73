//! The part of a peer's value that a message may show.

/// The most characters of a value that are shown.
const MAX_CHARS: usize = 100;

/// `value` in quotation marks: escaped, shortened to 100 characters, so that no message grows or breaks
/// a line with what a peer sent.
pub(crate) fn excerpt(value: &[u8]) -> String {
    let (shown, rest) = start_of(value);
    format!("\"{}{rest}\"", shown.escape_debug())
}

/// The same without quotation marks.
pub(crate) fn plain_excerpt(value: &str) -> String {
    let (shown, rest) = start_of(value.as_bytes());
    format!("{}{rest}", shown.escape_debug())
}

/// What is shown, and what stands for the rest.
fn start_of(value: &[u8]) -> (String, &'static str) {
    // A character has at most four bytes, so what is cut off here could not be shown.
    let start = &value[..value.len().min(4 * MAX_CHARS + 4)];
    let text = String::from_utf8_lossy(start);
    let mut chars = text.chars();
    let shown = chars.by_ref().take(MAX_CHARS).collect();
    let rest = if chars.next().is_some() { "…" } else { "" };
    (shown, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes() {
        assert_eq!(excerpt(b""), r#""""#);
        assert_eq!(excerpt(b"a\"\r\n\x1b"), r#""a\"\r\n\u{1b}""#);
        assert_eq!(excerpt(&[b'a', 0xFF]), "\"a\u{FFFD}\"");
        assert_eq!(plain_excerpt("ping\n"), r"ping\n");
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
        assert_eq!(plain_excerpt(&long), format!("{}…", "é".repeat(100)));
    }
}
