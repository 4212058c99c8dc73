//! Base64url without padding (RFC 7515 §2), read strictly: one text for each value.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// The bytes of `text`; none for another alphabet, padding, or unused bits that are not zero.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_text() {
        assert_eq!(decode("AQ").as_deref(), Some(&[1][..]));
        for other in ["AQ==", "AR", "A", "A+", "A/", "AQ\n", "é"] {
            assert_eq!(decode(other), None, "{other}");
        }
        assert_eq!(decode(""), Some(Vec::new()));
    }
}
