//! Signature algorithms (RFC 7518 §3.1, RFC 8037, RFC 9864): one table of those that exist here.

use std::fmt;

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
};

use crate::key::Curve;

/// A signature algorithm with a public key. `none` and the HMAC algorithms are not among them, so no configuration can
/// let them in (RFC 8725 §3.1, §3.2).
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Algorithm(usize);

/// What verifies a signature.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    Ecdsa(Curve),
    Rsa(&'static RsaParameters),
    Ed25519,
}

/// Name on the wire, and what it stands for.
static TABLE: &[(&str, Method)] = &[
    ("ES256", Method::Ecdsa(Curve::P256)),
    ("RS256", Method::Rsa(&RSA_PKCS1_2048_8192_SHA256)),
    ("PS256", Method::Rsa(&RSA_PSS_2048_8192_SHA256)),
    ("EdDSA", Method::Ed25519),
    ("Ed25519", Method::Ed25519),
    ("ES384", Method::Ecdsa(Curve::P384)),
    ("ES512", Method::Ecdsa(Curve::P521)),
    ("RS384", Method::Rsa(&RSA_PKCS1_2048_8192_SHA384)),
    ("RS512", Method::Rsa(&RSA_PKCS1_2048_8192_SHA512)),
    ("PS384", Method::Rsa(&RSA_PSS_2048_8192_SHA384)),
    ("PS512", Method::Rsa(&RSA_PSS_2048_8192_SHA512)),
];

/// How many rows of the table are accepted unless somebody says otherwise.
const DEFAULTS: usize = 5;

impl Algorithm {
    /// Every algorithm, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.len()).map(Self)
    }

    /// ES256, RS256, PS256, `EdDSA` and Ed25519.
    pub fn defaults() -> Vec<Self> {
        Self::all().take(DEFAULTS).collect()
    }

    /// The algorithm of this name, spelled exactly.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|algorithm| algorithm.name() == name)
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        TABLE[self.0].0
    }

    pub(crate) fn method(self) -> Method {
        TABLE[self.0].1
    }
}

impl Curve {
    /// ring's verification of raw signatures over the curve; P-521 it has not.
    pub(crate) fn ring(self) -> Option<&'static dyn ring::signature::VerificationAlgorithm> {
        match self {
            Self::P256 => Some(&ECDSA_P256_SHA256_FIXED),
            Self::P384 => Some(&ECDSA_P384_SHA384_FIXED),
            Self::P521 => None,
        }
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact_and_unique() {
        for algorithm in Algorithm::all() {
            assert_eq!(Algorithm::parse(algorithm.name()), Some(algorithm));
        }
        for name in ["none", "None", "HS256", "es256", "ES256 ", ""] {
            assert_eq!(Algorithm::parse(name), None, "{name}");
        }
    }

    #[test]
    fn the_defaults_are_the_common_ones() {
        let names: Vec<_> = Algorithm::defaults().iter().map(|one| one.name()).collect();
        assert_eq!(names, ["ES256", "RS256", "PS256", "EdDSA", "Ed25519"]);
    }
}
