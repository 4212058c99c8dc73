//! List positions as opaque, authenticated text (MCP server/utilities/pagination).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::keys::{Keys, TAG_BYTES};

/// Bytes of a list's digest that a cursor carries.
const DIGEST_BYTES: usize = 8;
const POSITION_BYTES: usize = 4;
const CONTENT_BYTES: usize = POSITION_BYTES + DIGEST_BYTES;
const CURSOR_BYTES: usize = CONTENT_BYTES + TAG_BYTES;

/// A place in a list: how many entries came before, in the list with this digest.
///
/// It holds no node, nonce or time, so every node with the same secret and the same list accepts it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Cursor {
    pub(crate) position: u32,
    list: [u8; DIGEST_BYTES],
}

/// Whose a cursor is: a digest of principal and scopes, zeros for nobody in particular.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Caller(pub(crate) [u8; 32]);

impl Cursor {
    pub(crate) fn new(position: u32, list_digest: &[u8; 32]) -> Self {
        let mut list = [0; DIGEST_BYTES];
        list.copy_from_slice(&list_digest[..DIGEST_BYTES]);
        Self { position, list }
    }

    /// Reads a cursor for the list with this name and digest; `None` for anything that is not one of ours, and for one
    /// of another caller's.
    pub(crate) fn parse(
        text: &str,
        keys: &Keys,
        name: &str,
        list_digest: &[u8; 32],
        caller: &Caller,
    ) -> Option<Self> {
        let mut bytes = [0; CURSOR_BYTES];
        let read = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        if read != CURSOR_BYTES {
            return None;
        }
        let (content, tag) = bytes.split_at(CONTENT_BYTES);
        let (position, _) = content.split_first_chunk()?;
        let cursor = Self::new(u32::from_be_bytes(*position), list_digest);
        let ours = keys.cursor_tag_is_ours(&tagged(name, caller, content), tag);
        (ours && cursor.content() == content).then_some(cursor)
    }

    /// The text for a client.
    pub(crate) fn encode(self, keys: &Keys, name: &str, caller: &Caller) -> String {
        let content = self.content();
        let tag = keys.cursor_tag(&tagged(name, caller, &content));
        URL_SAFE_NO_PAD.encode([&content[..], &tag].concat())
    }

    fn content(self) -> [u8; CONTENT_BYTES] {
        let mut content = [0; CONTENT_BYTES];
        content[..POSITION_BYTES].copy_from_slice(&self.position.to_be_bytes());
        content[POSITION_BYTES..].copy_from_slice(&self.list);
        content
    }
}

/// What the tag covers: a cursor of one list is none of another, and one caller's none of another's.
fn tagged(name: &str, caller: &Caller, content: &[u8]) -> Vec<u8> {
    [name.as_bytes(), b"\0", &caller.0, content].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANN: Caller = Caller([3; 32]);

    fn keys(byte: u8) -> Keys {
        Keys::derive(&[vec![byte; 32]])
    }

    #[test]
    fn comes_back_as_it_went() {
        let cursor = Cursor::new(100, &[7; 32]);
        let text = cursor.encode(&keys(1), "tools", &ANN);
        assert_eq!(
            Cursor::parse(&text, &keys(1), "tools", &[7; 32], &ANN),
            Some(cursor)
        );
    }

    proptest! {
        #[test]
        fn any_place_comes_back(position: u32, digest: [u8; 32], secret: u8) {
            let cursor = Cursor::new(position, &digest);
            let text = cursor.encode(&keys(secret), "tools", &ANN);
            prop_assert_eq!(Cursor::parse(&text, &keys(secret), "tools", &digest, &ANN), Some(cursor));
        }

        #[test]
        fn nothing_else_is_a_cursor(text in ".{0,80}", bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            for text in [text, URL_SAFE_NO_PAD.encode(bytes)] {
                prop_assert_eq!(Cursor::parse(&text, &keys(1), "tools", &[7; 32], &ANN), None);
            }
        }
    }

    #[test]
    fn serves_the_key_before_the_newest() {
        let text = Cursor::new(1, &[7; 32]).encode(&keys(1), "tools", &ANN);
        let rotated = Keys::derive(&[vec![2; 32], vec![1; 32]]);
        assert!(Cursor::parse(&text, &rotated, "tools", &[7; 32], &ANN).is_some());
    }

    #[test]
    fn is_no_other_callers() {
        let text = Cursor::new(1, &[7; 32]).encode(&keys(1), "tools", &ANN);
        for caller in [Caller::default(), Caller([4; 32])] {
            assert_eq!(
                Cursor::parse(&text, &keys(1), "tools", &[7; 32], &caller),
                None
            );
        }
    }

    #[test]
    fn is_refused_with_another_key_list_or_name_or_any_bit_changed() {
        let text = Cursor::new(1, &[7; 32]).encode(&keys(1), "tools", &ANN);
        assert_eq!(
            Cursor::parse(&text, &keys(2), "tools", &[7; 32], &ANN),
            None
        );
        assert_eq!(
            Cursor::parse(&text, &keys(1), "prompts", &[7; 32], &ANN),
            None
        );
        assert_eq!(
            Cursor::parse(&text, &keys(1), "tools", &[8; 32], &ANN),
            None
        );
        let bytes = URL_SAFE_NO_PAD.decode(&text).expect("base64");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(
                Cursor::parse(&changed, &keys(1), "tools", &[7; 32], &ANN),
                None
            );
        }
        for text in ["", "x", "bm9wZQ", &text[1..], &format!("{text}A")] {
            assert_eq!(Cursor::parse(text, &keys(1), "tools", &[7; 32], &ANN), None);
        }
    }
}
