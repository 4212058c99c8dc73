//! The values of `Mcp-Name` and param headers, which may be in Base64
//! (MCP 2026-07-28 basic/transports/streamable-http, "Value Encoding").

use std::{borrow::Cow, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::ascii;

/// Why a value cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Invalid {
    /// A byte other than visible ASCII, space and tab.
    Character,
    /// Not standard Base64 with its padding (RFC 4648 §4).
    Base64,
    /// Base64 of something that is not UTF-8.
    Utf8,
}

/// The text that a header value stands for: what lies between `=?base64?` and `?=`, decoded, or the
/// value itself where it does not have both marks. Allocates only to decode, less than the value's length.
///
/// # Errors
/// [`Invalid`] says what the value breaks.
pub(crate) fn decode(value: &[u8]) -> Result<Cow<'_, str>, Invalid> {
    let text = ascii::plain(value).ok_or(Invalid::Character)?;
    let Some(encoded) = text
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| Invalid::Base64)?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| Invalid::Utf8)
}

impl fmt::Display for Invalid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Character => "has characters other than visible ASCII, space and tab",
            Self::Base64 => "is not standard Base64 with padding between =?base64? and ?=",
            Self::Utf8 => "is Base64 of something that is not UTF-8",
        })
    }
}

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// What a conforming client sends for `text`.
#[cfg(test)]
pub(super) fn encode(text: &str) -> String {
    let is_plain = ascii::plain(text.as_bytes()).is_some() && text.trim_ascii() == text;
    if is_plain && !(text.starts_with(PREFIX) && text.ends_with(SUFFIX)) {
        return text.to_owned();
    }
    format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hdr20_decodes_between_the_marks() {
        for (value, text) in [
            ("=?base64?SGVsbG8=?=", "Hello"),
            ("=?base64?5pel5pys?=", "日本"),
            ("=?base64??=", ""),
            ("=?base64?PT9iYXNlNjQ/SGk/Pz0=?=", "=?base64?Hi??="),
        ] {
            assert_eq!(decode(value.as_bytes()).as_deref(), Ok(text), "{value}");
        }
    }

    #[test]
    fn hdr25_anything_else_is_literal() {
        for literal in [
            "",
            "echo",
            "a b\tc",
            "SGVsbG8=",
            "=?base64?SGVsbG8=",
            "SGVsbG8=?=",
            "=?BASE64?SGVsbG8=?=",
            "=?base64?=",
            "=?base64?SGVsbG8=?= ",
        ] {
            assert!(
                matches!(decode(literal.as_bytes()), Ok(Cow::Borrowed(text)) if text == literal),
                "{literal}"
            );
        }
    }

    #[test]
    fn hdr24_decodes_strictly() {
        for (value, why) in [
            ("=?base64?SGVsbG8?=", Invalid::Base64),
            ("=?base64?SGVs!!!bG8=?=", Invalid::Base64),
            ("=?base64?SGVs bG8=?=", Invalid::Base64),
            ("=?base64?SGVsbG8==?=", Invalid::Base64),
            ("=?base64?SGVsbG9=?=", Invalid::Base64),
            ("=?base64?-_8=?=", Invalid::Base64),
            ("=?base64?/w==?=", Invalid::Utf8),
            ("=?base64?7aCA?=", Invalid::Utf8),
            ("日本", Invalid::Character),
            ("a\0", Invalid::Character),
            ("=?base64?SGVsbG8=\u{7f}?=", Invalid::Character),
        ] {
            assert_eq!(decode(value.as_bytes()), Err(why), "{value:?}");
        }
        assert_eq!(decode(&[0xFF]), Err(Invalid::Character));
    }

    proptest! {
        #[test]
        fn reads_back_what_clients_write(text in any::<String>()) {
            let value = encode(&text);
            let decoded = decode(value.as_bytes());
            prop_assert_eq!(decoded.as_deref(), Ok(text.as_str()));
        }

        #[test]
        fn reads_marked_values_back(text in "(=\\?base64\\?)?[ -~]{0,12}(\\?=)?") {
            let value = encode(&text);
            let decoded = decode(value.as_bytes());
            prop_assert_eq!(decoded.as_deref(), Ok(text.as_str()));
        }

        #[test]
        fn any_bytes_are_read(value in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode(&value);
            let _ = decode(&[PREFIX.as_bytes(), &value, SUFFIX.as_bytes()].concat());
        }
    }
}
