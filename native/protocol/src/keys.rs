//! Keys derived from the instance's secrets, one label a purpose (RFC 5869), and the tags they make.

use std::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::request_state::{ID_BYTES, NONCE_BYTES};

/// Length of a tag in bytes: 128 bits of an HMAC-SHA-256 (RFC 2104 §5).
pub const TAG_BYTES: usize = 16;

/// The instance's keys: the newest makes tags, all check them, so that secrets rotate without a break.
#[derive(Clone)]
pub struct Keys {
    cursor: Vec<[u8; 32]>,
    state: Vec<StateKey>,
}

/// What seals request states.
#[derive(Clone)]
pub(crate) struct StateKey {
    /// Tells the key from others; derived like it, so that it says nothing of it.
    pub(crate) id: [u8; ID_BYTES],
    pub(crate) cipher: [u8; 32],
    nonce: [u8; 32],
}

impl Keys {
    /// Derives every key from `secrets`, newest first.
    pub fn derive(secrets: &[Vec<u8>]) -> Self {
        Self {
            cursor: secrets
                .iter()
                .map(|secret| expand(secret, b"beam_mcp cursor v1"))
                .collect(),
            state: secrets
                .iter()
                .map(|secret| StateKey::derive(secret))
                .collect(),
        }
    }

    /// The key that seals request states.
    pub(crate) fn newest_state_key(&self) -> Option<&StateKey> {
        self.state.first()
    }

    /// The key that sealed a request state.
    pub(crate) fn state_key(&self, id: [u8; ID_BYTES]) -> Option<&StateKey> {
        self.state.iter().find(|key| key.id == id)
    }

    /// The tag of a cursor's content.
    pub(crate) fn cursor_tag(&self, content: &[u8]) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        if let Some(newest) = self.cursor.first() {
            let full = mac(newest, content).finalize().into_bytes();
            tag.copy_from_slice(&full[..TAG_BYTES]);
        }
        tag
    }

    /// Whether `tag` was made by one of the keys. Takes the same time whatever the tag holds.
    pub(crate) fn cursor_tag_is_ours(&self, content: &[u8], tag: &[u8]) -> bool {
        tag.len() == TAG_BYTES
            && self
                .cursor
                .iter()
                .any(|key| mac(key, content).verify_truncated_left(tag).is_ok())
    }
}

impl StateKey {
    fn derive(secret: &[u8]) -> Self {
        let id: [u8; 32] = expand(secret, b"beam_mcp request state id v1");
        Self {
            id: *id
                .first_chunk()
                .expect("an id is shorter than what is derived"),
            cipher: expand(secret, b"beam_mcp request state v1"),
            nonce: expand(secret, b"beam_mcp request state nonce v1"),
        }
    }

    /// A nonce that no other text has.
    pub(crate) fn nonce(&self, binding: &[u8; 32], text: &[u8]) -> [u8; NONCE_BYTES] {
        let mut mac = mac(&self.nonce, binding);
        mac.update(text);
        let tag: [u8; 32] = mac.finalize().into_bytes().into();
        *tag.first_chunk().expect("a nonce is shorter than a tag")
    }
}

/// Says how many keys there are and nothing of them.
impl fmt::Debug for Keys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Keys({})", self.cursor.len())
    }
}

fn expand(secret: &[u8], label: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    Hkdf::<Sha256>::new(None, secret)
        .expand(label, &mut key)
        .expect("32 bytes are within what HKDF-SHA-256 gives");
    key
}

fn mac(key: &[u8; 32], content: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(content);
    mac
}
