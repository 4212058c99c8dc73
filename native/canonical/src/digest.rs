//! The digests that canonical bytes may name.

use std::fmt::Write;

use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::Sink;

/// A digest by the name that stands in the bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Algorithm {
    /// `sha256`, which every version knows.
    #[default]
    Sha256,
    /// `sha384`
    Sha384,
    /// `sha512`
    Sha512,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// The algorithm of a name, exactly as the bytes have it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }

    /// The name in the bytes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// A digest of nothing yet.
    pub fn hasher(self) -> Hasher {
        Hasher(match self {
            Self::Sha256 => State::Sha256(Sha256::new()),
            Self::Sha384 => State::Sha384(Sha384::new()),
            Self::Sha512 => State::Sha512(Sha512::new()),
        })
    }

    /// The digest of `bytes` in lower-case hexadecimal.
    pub fn hexadecimal(self, bytes: &[u8]) -> String {
        let mut hasher = self.hasher();
        hasher.take(bytes);
        hasher.hexadecimal()
    }
}

/// A digest that grows with what is written into it.
pub struct Hasher(State);

enum State {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Hasher {
    /// The digest of everything taken, in lower-case hexadecimal.
    pub fn hexadecimal(self) -> String {
        match self.0 {
            State::Sha256(state) => hexadecimal(&state.finalize()),
            State::Sha384(state) => hexadecimal(&state.finalize()),
            State::Sha512(state) => hexadecimal(&state.finalize()),
        }
    }
}

impl Sink for Hasher {
    fn take(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Sha256(state) => state.update(bytes),
            State::Sha384(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }
}

fn hexadecimal(digest: &[u8]) -> String {
    digest
        .iter()
        .fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes what is written to it");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
        }
        for name in ["SHA256", "sha-256", "sha3_256", ""] {
            assert_eq!(Algorithm::from_name(name), None);
        }
    }

    /// FIPS 180-4, the examples for "abc".
    #[test]
    fn digests_are_those_of_the_standard() {
        let starts = ["ba7816bf8f01cfea", "cb00753f45a35e8b", "ddaf35a193617aba"];
        for ((algorithm, start), length) in
            Algorithm::ALL.into_iter().zip(starts).zip([64, 96, 128])
        {
            let digest = algorithm.hexadecimal(b"abc");
            assert!(digest.starts_with(start), "{digest}");
            assert_eq!(digest.len(), length);
        }
    }

    #[test]
    fn pieces_and_the_whole_have_one_digest() {
        let mut hasher = Algorithm::Sha512.hasher();
        hasher.take(b"a");
        hasher.take(b"");
        hasher.take(b"bc");
        assert_eq!(hasher.hexadecimal(), Algorithm::Sha512.hexadecimal(b"abc"));
    }
}
