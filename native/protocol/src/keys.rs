//! Keys derived from the instance's secrets, one label a purpose (RFC 5869), and the tags they make.

use std::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Length of a tag in bytes: 128 bits of an HMAC-SHA-256 (RFC 2104 §5).
pub const TAG_BYTES: usize = 16;

/// The instance's keys: the newest makes tags, all check them, so that secrets rotate without a break.
#[derive(Clone)]
pub struct Keys {
    cursor: Vec<[u8; 32]>,
}

impl Keys {
    /// Derives every key from `secrets`, newest first.
    pub fn derive(secrets: &[Vec<u8>]) -> Self {
        Self {
            cursor: secrets
                .iter()
                .map(|secret| expand(secret, b"beam_mcp cursor v1"))
                .collect(),
        }
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
