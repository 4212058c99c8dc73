//! Percent-encoding (RFC 3986 section 2.1).

use std::borrow::Cow;

/// `text` with its characters beyond ASCII encoded: the URI of an IRI (RFC 3987 section 3.1).
pub(crate) fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii() {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(DIGITS[usize::from(byte >> 4)]));
            encoded.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    Cow::Owned(encoded)
}

/// `text` decoded once, unless it is malformed or hides something other than UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Whether `text` starts with two hexadecimal digits.
pub(crate) fn starts_with_digits(text: &str) -> bool {
    matches!(text.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

#[cfg(test)]
mod tests {
    use super::{ascii, decoded, starts_with_digits};

    #[test]
    fn decoding_happens_once_and_strictly() {
        assert_eq!(decoded("a%20b%C3%a9%2541").as_deref(), Some("a bé%41"));
        for malformed in ["%", "%4", "%4g", "a%", "%+1", "%C3", "%FF%FE", "%ED%A0%80"] {
            assert_eq!(decoded(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn only_characters_beyond_ascii_are_encoded() {
        assert_eq!(ascii("a b%/"), "a b%/");
        assert_eq!(ascii("é/\u{1F980}"), "%C3%A9/%F0%9F%A6%80");
    }

    #[test]
    fn two_digits_make_an_octet() {
        assert!(starts_with_digits("4F") && starts_with_digits("aa/"));
        assert!(!starts_with_digits("4") && !starts_with_digits("4é") && !starts_with_digits("+1"));
    }
}
