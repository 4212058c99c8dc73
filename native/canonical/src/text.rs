//! Strings as they are written and ordered.

use std::borrow::Cow;
use std::cmp::Ordering;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The text in NFC, borrowed where it is in it already; `None` for bytes that are not UTF-8.
///
/// NFC, not NFKC, composition exclusions included (Unicode Standard Annex 15).
pub fn nfc(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let text = str::from_utf8(bytes).ok()?;
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Some(Cow::Borrowed(text));
    }
    Some(Cow::Owned(text.nfc().collect()))
}

/// The order of keys: by UTF-16 code units, a prefix first.
///
/// It is the order of code points, hence of bytes, but for one thing: the surrogates of what is above U+FFFF stand before
/// U+E000. Whether it matters is seen at the first byte that differs.
pub fn utf16_order(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut pairs = left.iter().zip(right);
    match pairs.find(|(left, right)| left != right) {
        Some((left, right)) => rank(*left).cmp(&rank(*right)),
        None => left.len().cmp(&right.len()),
    }
}

/// A byte, those that begin U+E000 to U+FFFF behind those that begin what is above.
fn rank(byte: u8) -> u8 {
    match byte {
        0xEE | 0xEF => byte + 0x10,
        byte => byte,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_stand_by_code_units(
            (left, right) in ("[a\u{e9}\u{d7ff}\u{e000}\u{ff01}\u{1f600}\u{10ffff}]{0,4}", "[a-b\u{d000}-\u{10ffff}]{0,4}"),
            tail in any::<String>(),
        ) {
            let (long, shared) = (left.clone() + &tail, left.clone() + &right);
            for (left, right) in [(&left, &right), (&long, &shared), (&tail, &right)] {
                let by_units = left.encode_utf16().cmp(right.encode_utf16());
                prop_assert_eq!(utf16_order(left, right), by_units);
            }
        }
    }

    #[test]
    fn strings_compose() {
        let composed = |text: &str| nfc(text.as_bytes()).map(Cow::into_owned);
        for (given, expected) in [
            ("plain", "plain"),
            ("cafe\u{301}", "caf\u{e9}"),
            ("\u{212b}\u{2126}", "\u{c5}\u{3a9}"),
            ("\u{fb33}\u{958}", "\u{5d3}\u{5bc}\u{915}\u{93c}"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
            ("q\u{307}\u{323}", "q\u{323}\u{307}"),
            ("\u{fb01}", "\u{fb01}"),
            ("\u{feff}\u{fffe}", "\u{feff}\u{fffe}"),
        ] {
            assert_eq!(composed(given).as_deref(), Some(expected), "{given:?}");
        }
    }

    #[test]
    fn ill_formed_bytes_are_no_text() {
        for bytes in [
            b"\xc0\x80".as_slice(),
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xe2\x82",
            b"a\xffb",
        ] {
            assert_eq!(nfc(bytes), None);
        }
    }

    #[test]
    fn surrogates_stand_before_the_end_of_the_basic_plane() {
        assert_eq!(utf16_order("\u{1f600}", "\u{e000}"), Ordering::Less);
        assert_eq!(utf16_order("\u{1f600}", "\u{d7ff}"), Ordering::Greater);
        assert_eq!(utf16_order("a", "ab"), Ordering::Less);
        assert_eq!(utf16_order("B", "a"), Ordering::Less);
    }
}
