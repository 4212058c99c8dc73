//! The keys of the issuers (RFC 7517 §5), and which of them a token is to be held against.

use std::{error, fmt, sync::Arc};

use mcp_json::{Document, Kind, Limits};

use crate::{algorithm::Algorithm, key::Key, reason::Reason};

/// The public keys of one issuer.
pub struct KeySet {
    keys: Vec<Key>,
}

/// Why a text is no key set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeySetError {
    /// No JSON object with an array `keys`.
    Malformed,
    /// More keys, or octets, than are read.
    TooLarge,
    /// Nothing in it can verify a signature.
    NoUsableKey,
}

/// What is known of the issuers' keys now, and whether asking again may change it.
#[derive(Clone, Debug)]
pub struct Keys {
    /// One for each issuer in the order of the configuration.
    pub sources: Vec<KeySource>,
}

/// What is known of one issuer's keys.
#[derive(Clone, Debug)]
pub struct KeySource {
    /// None when none was had yet, or when it is too old.
    pub set: Option<Arc<KeySet>>,
    /// What became of asking the issuer for newer ones.
    pub refetch: Refetch,
}

/// Whether an issuer was asked for newer keys on behalf of this request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refetch {
    /// Not yet: [`Decision::NeedKeys`](crate::Decision::NeedKeys) asks for it.
    Possible,
    /// The keys are as new as they can be had: a miss is final.
    Done,
    /// It could not be asked.
    Failed,
}

/// Why there is no key for a token.
pub(crate) enum Missing {
    Refused(Reason),
    Fetch,
}

impl KeySet {
    /// Reads a key set. Symmetric, private and broken keys are left out.
    ///
    /// # Errors
    /// When nothing is left, or the text is no key set: it then must not take the place of one.
    pub fn parse(text: &[u8]) -> Result<Self, KeySetError> {
        if text.len() > MAX_OCTETS {
            return Err(KeySetError::TooLarge);
        }
        let document = Document::parse(text.to_vec().into(), &Limits::default())
            .map_err(|_| KeySetError::Malformed)?;
        let keys = document.root().get("keys").ok_or(KeySetError::Malformed)?;
        if keys.kind() != Kind::Array {
            return Err(KeySetError::Malformed);
        }
        if keys.len() > MAX_KEYS {
            return Err(KeySetError::TooLarge);
        }
        let keys: Vec<Key> = keys.items().filter_map(Key::parse).collect();
        match keys.is_empty() {
            true => Err(KeySetError::NoUsableKey),
            false => Ok(Self { keys }),
        }
    }

    /// How many keys it has.
    #[expect(clippy::len_without_is_empty, reason = "a set has at least one key")]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    fn select(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
        min_rsa_bits: usize,
    ) -> Result<Option<&Key>, Reason> {
        let found = match kid {
            Some(kid) => self.named(kid)?,
            None => self.only(algorithm)?,
        };
        let Some(key) = found else {
            return Ok(None);
        };
        if !key.verifies() {
            return Err(Reason::KeyUnusable);
        }
        if !key.fits(algorithm) {
            return Err(Reason::AlgNotAllowed);
        }
        match key.is_under(min_rsa_bits) {
            true => Err(Reason::WeakKey),
            false => Ok(Some(key)),
        }
    }

    fn named(&self, kid: &str) -> Result<Option<&Key>, Reason> {
        single(
            self.keys
                .iter()
                .filter(|key| key.kid.as_deref() == Some(kid)),
        )
    }

    /// The only key that fits: a token that names none is never tried with several.
    fn only(&self, algorithm: Algorithm) -> Result<Option<&Key>, Reason> {
        single(
            self.keys
                .iter()
                .filter(|key| key.verifies() && key.fits(algorithm)),
        )
    }
}

impl Keys {
    /// Keys that are configured and never fetched.
    pub fn fixed(sets: Vec<Arc<KeySet>>) -> Self {
        let source = |set| KeySource {
            set: Some(set),
            refetch: Refetch::Done,
        };
        Self {
            sources: sets.into_iter().map(source).collect(),
        }
    }

    /// The key of a token of this issuer that names `kid` and `algorithm`.
    pub(crate) fn select(
        &self,
        issuer: usize,
        kid: Option<&str>,
        algorithm: Algorithm,
        min_rsa_bits: usize,
    ) -> Result<&Key, Missing> {
        let source = &self.sources[issuer];
        let set = source.set.as_ref();
        let found = match set {
            Some(set) => set
                .select(kid, algorithm, min_rsa_bits)
                .map_err(Missing::Refused)?,
            None => None,
        };
        found.ok_or(match (source.refetch, set) {
            (Refetch::Possible, _) => Missing::Fetch,
            (Refetch::Done, Some(_)) => Missing::Refused(Reason::UnknownKid),
            (Refetch::Failed, _) | (Refetch::Done, None) => {
                Missing::Refused(Reason::KeySourceUnavailable)
            }
        })
    }
}

fn single<'a>(mut keys: impl Iterator<Item = &'a Key>) -> Result<Option<&'a Key>, Reason> {
    match (keys.next(), keys.next()) {
        (_, Some(_)) => Err(Reason::KeyAmbiguous),
        (found, None) => Ok(found),
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "KeySet({})", self.keys.len())
    }
}

impl fmt::Display for KeySetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => out.write_str("it is no JSON object with an array \"keys\""),
            Self::TooLarge => write!(
                out,
                "it has more than {MAX_KEYS} keys or {MAX_OCTETS} octets"
            ),
            Self::NoUsableKey => out.write_str(
                "no key in it can verify a signature: symmetric, private and broken ones do not count",
            ),
        }
    }
}

impl error::Error for KeySetError {}

/// Issuers have a handful; each costs a parse and a place in the search.
const MAX_KEYS: usize = 32;

const MAX_OCTETS: usize = 512 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_keys_is_bounded() {
        let set = |count| format!(r#"{{"keys":[{}]}}"#, vec!["{}"; count].join(","));
        let error = |count| KeySet::parse(set(count).as_bytes()).unwrap_err();
        assert_eq!(error(MAX_KEYS), KeySetError::NoUsableKey);
        assert_eq!(error(MAX_KEYS + 1), KeySetError::TooLarge);
        assert_eq!(error(10_000), KeySetError::TooLarge);
        let spaces = vec![b' '; MAX_OCTETS + 1];
        assert_eq!(KeySet::parse(&spaces).unwrap_err(), KeySetError::TooLarge);
    }
}
