//! The request state of a multi round-trip: what a client carries from one round to the next, sealed
//! (MCP 2026-07-28 basic/patterns/mrtr, "Request State"; requirement B-7).
//!
//! A state is key id, nonce and ciphertext of XChaCha20-Poly1305 in Base64. It opens for the caller and the request that
//! it was made for, which are bound as associated data, and until it expires. The nonce is a tag of what is sealed, so
//! that none is used for two texts.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    XChaCha20Poly1305,
    aead::{Aead, KeyInit, Payload},
};

use crate::keys::{Keys, StateKey};

/// The most bytes that are sealed: a client sends them back with its answers.
pub(crate) const MAX_STATE_BYTES: usize = 262_144;

/// Whom a state is for, and for which request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Binding(pub(crate) [u8; 32]);

/// Seals `text` with the newest key.
pub(crate) fn seal(keys: &Keys, binding: Binding, text: &[u8]) -> Option<String> {
    let key = keys.newest_state_key()?;
    let nonce = key.nonce(&binding.0, text);
    let payload = Payload {
        msg: text,
        aad: &binding.0,
    };
    let sealed = cipher(key).encrypt(&nonce.into(), payload).ok()?;
    let state = [&key.id[..], &nonce, &sealed].concat();
    Some(URL_SAFE_NO_PAD.encode(state))
}

/// What was sealed; nothing tells why a state does not open.
pub(crate) fn open(keys: &Keys, binding: Binding, state: &str) -> Option<Vec<u8>> {
    if state.len() > MAX_SEALED_BYTES {
        return None;
    }
    let state = URL_SAFE_NO_PAD.decode(state).ok()?;
    let (id, rest) = state.split_first_chunk::<ID_BYTES>()?;
    let (nonce, sealed) = rest.split_first_chunk::<NONCE_BYTES>()?;
    let key = keys.state_key(*id)?;
    let payload = Payload {
        msg: sealed,
        aad: &binding.0,
    };
    cipher(key).decrypt(&(*nonce).into(), payload).ok()
}

fn cipher(key: &StateKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&key.cipher.into())
}

/// No state of ours is longer: what is sealed with id, nonce and tag, in Base64.
const MAX_SEALED_BYTES: usize = (MAX_STATE_BYTES + ID_BYTES + NONCE_BYTES + 16).div_ceil(3) * 4;

/// Length of a key's id.
pub(crate) const ID_BYTES: usize = 4;

/// Length of a nonce.
pub(crate) const NONCE_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Binding = Binding([1; 32]);

    fn keys(secrets: &[u8]) -> Keys {
        let secrets: Vec<_> = secrets.iter().map(|byte| vec![*byte; 32]).collect();
        Keys::derive(&secrets)
    }

    #[test]
    fn opens_for_the_same_binding_alone() {
        let keys = keys(&[7]);
        let state = seal(&keys, HERE, b"text").unwrap();
        assert_eq!(open(&keys, HERE, &state).unwrap(), b"text");
        assert_eq!(open(&keys, Binding([2; 32]), &state), None);
    }

    #[test]
    fn no_byte_can_be_changed_added_or_left_out() {
        let keys = keys(&[7]);
        let state = seal(&keys, HERE, b"text").unwrap();
        for position in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(open(&keys, HERE, &changed), None, "{position}");
            assert_eq!(open(&keys, HERE, &state[..position]), None);
        }
        for suffix in ["A", "=", "-tampered", " "] {
            assert_eq!(open(&keys, HERE, &format!("{state}{suffix}")), None);
        }
        assert_eq!(open(&keys, HERE, ""), None);
    }

    #[test]
    fn the_longest_state_opens_and_a_longer_one_does_not() {
        let keys = keys(&[7]);
        let longest = seal(&keys, HERE, &vec![b' '; MAX_STATE_BYTES]).unwrap();
        assert!(open(&keys, HERE, &longest).is_some());
        let longer = seal(&keys, HERE, &vec![b' '; MAX_STATE_BYTES + 4]).unwrap();
        assert_eq!(open(&keys, HERE, &longer), None);
    }

    #[test]
    fn keys_rotate() {
        let state = seal(&keys(&[1]), HERE, b"text").unwrap();
        assert!(open(&keys(&[2, 1]), HERE, &state).is_some());
        assert!(open(&keys(&[2]), HERE, &state).is_none());
        let newer = seal(&keys(&[2, 1]), HERE, b"text").unwrap();
        assert!(open(&keys(&[2]), HERE, &newer).is_some());
    }

    #[test]
    fn nothing_of_the_text_shows() {
        let keys = keys(&[7]);
        let state = seal(&keys, HERE, b"a secret answer").unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(&state).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"secret"));
        let other = seal(&keys, HERE, b"another answer").unwrap();
        let nonce = |state: &str| URL_SAFE_NO_PAD.decode(state).unwrap()[4..28].to_vec();
        assert_ne!(nonce(&state), nonce(&other));
    }
}
