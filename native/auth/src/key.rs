//! A public key in JWK form (RFC 7517), and the signatures it verifies.

use std::fmt;

use mcp_json::{Kind, Node};
use p521::ecdsa::signature::Verifier;
use ring::signature::{ED25519, RsaPublicKeyComponents, UnparsedPublicKey};
use sha2::{Digest, Sha256};

use crate::{
    algorithm::{Algorithm, Method},
    base64url,
    object::Object,
};

/// A public key and what its owner says it is for.
pub(crate) struct Key {
    pub(crate) kid: Option<String>,
    /// The one algorithm that it is for, when it names one.
    algorithm: Option<String>,
    /// Whether `use` and `key_ops` permit to verify signatures.
    verifies: bool,
    material: Material,
    thumbprint: String,
}

/// The elliptic curves of ECDSA.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Curve {
    P256,
    P384,
    P521,
}

enum Material {
    /// The point, uncompressed (SEC 1 §2.3.3).
    Ec(Curve, Vec<u8>),
    Ed25519(Vec<u8>),
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
}

impl Key {
    /// Reads a JWK. None for another type or curve, a point that is not on its curve, an RSA key that nobody may use,
    /// a symmetric key, and any key with a private member.
    pub(crate) fn parse(jwk: Node<'_>) -> Option<Self> {
        if jwk.kind() != Kind::Object || PRIVATE.iter().any(|name| jwk.get(name).is_some()) {
            return None;
        }
        let (material, thumbprint) = match &*text(jwk, "kty")? {
            "EC" => ec(jwk)?,
            "OKP" => okp(jwk)?,
            "RSA" => rsa(jwk)?,
            _ => return None,
        };
        Some(Self {
            kid: optional_text(jwk, "kid")?,
            algorithm: optional_text(jwk, "alg")?,
            verifies: verifies(jwk),
            material,
            thumbprint,
        })
    }

    /// Whether `use` and `key_ops` permit to verify signatures (RFC 7517 §4.2, §4.3).
    pub(crate) fn verifies(&self) -> bool {
        self.verifies
    }

    /// Whether type, curve and `alg` of the key are those of the algorithm. A key for `EdDSA` is none for `Ed25519`,
    /// though both name one operation.
    pub(crate) fn fits(&self, algorithm: Algorithm) -> bool {
        let same_type = match (algorithm.method(), &self.material) {
            (Method::Ecdsa(wanted), Material::Ec(curve, _)) => wanted == *curve,
            (Method::Rsa(_), Material::Rsa { .. }) | (Method::Ed25519, Material::Ed25519(_)) => {
                true
            }
            _ => false,
        };
        same_type
            && self
                .algorithm
                .as_deref()
                .is_none_or(|name| name == algorithm.name())
    }

    /// Whether it is an RSA key shorter than that.
    pub(crate) fn is_under(&self, min_rsa_bits: usize) -> bool {
        matches!(&self.material, Material::Rsa { n, .. } if bits(n) < min_rsa_bits)
    }

    /// Whether `signature` is the key's over `message`. ECDSA signatures are r and s of fixed length (RFC 7518 §3.4).
    pub(crate) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match (algorithm.method(), &self.material) {
            (Method::Ecdsa(wanted), Material::Ec(curve, point)) if wanted == *curve => {
                match curve.ring() {
                    Some(ring) => UnparsedPublicKey::new(ring, point)
                        .verify(message, signature)
                        .is_ok(),
                    None => verify_p521(point, message, signature),
                }
            }
            (Method::Rsa(parameters), Material::Rsa { n, e }) => RsaPublicKeyComponents { n, e }
                .verify(parameters, message, signature)
                .is_ok(),
            (Method::Ed25519, Material::Ed25519(x)) => UnparsedPublicKey::new(&ED25519, x)
                .verify(message, signature)
                .is_ok(),
            _ => false,
        }
    }

    /// The thumbprint (RFC 7638) with SHA-256, as base64url.
    pub(crate) fn thumbprint(&self) -> &str {
        &self.thumbprint
    }
}

impl Curve {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "P-256" => Some(Self::P256),
            "P-384" => Some(Self::P384),
            "P-521" => Some(Self::P521),
            _ => None,
        }
    }

    /// Octets of a coordinate (RFC 7518 §6.2.1.2).
    fn octets(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    fn has(self, point: &[u8]) -> bool {
        match self {
            Self::P256 => p256::PublicKey::from_sec1_bytes(point).is_ok(),
            Self::P384 => p384::PublicKey::from_sec1_bytes(point).is_ok(),
            Self::P521 => p521::PublicKey::from_sec1_bytes(point).is_ok(),
        }
    }
}

/// Shows what it is called; the key itself is long.
impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Key({})", self.thumbprint)
    }
}

fn ec(jwk: Node<'_>) -> Option<(Material, String)> {
    let (crv, x, y) = (text(jwk, "crv")?, text(jwk, "x")?, text(jwk, "y")?);
    let curve = Curve::parse(&crv)?;
    let mut point = vec![UNCOMPRESSED];
    for coordinate in [&x, &y] {
        let octets = base64url::decode(coordinate)?;
        if octets.len() != curve.octets() {
            return None;
        }
        point.extend(octets);
    }
    let thumbprint = digest(&[("crv", &crv), ("kty", "EC"), ("x", &x), ("y", &y)]);
    curve
        .has(&point)
        .then_some((Material::Ec(curve, point), thumbprint))
}

fn okp(jwk: Node<'_>) -> Option<(Material, String)> {
    let (crv, x) = (text(jwk, "crv")?, text(jwk, "x")?);
    let octets = base64url::decode(&x)?;
    if crv != "Ed25519" || octets.len() != 32 {
        return None;
    }
    let thumbprint = digest(&[("crv", &crv), ("kty", "OKP"), ("x", &x)]);
    Some((Material::Ed25519(octets), thumbprint))
}

fn rsa(jwk: Node<'_>) -> Option<(Material, String)> {
    let (n_text, e_text) = (text(jwk, "n")?, text(jwk, "e")?);
    let (n, e) = (base64url::decode(&n_text)?, base64url::decode(&e_text)?);
    let is_odd = |octets: &[u8]| octets.last().is_some_and(|last| last % 2 == 1);
    let usable = is_odd(&n)
        && is_odd(&e)
        && (2..=MAX_RSA_EXPONENT_BITS).contains(&bits(&e))
        && bits(&n) <= MAX_RSA_BITS
        && n[0] != 0
        && e[0] != 0;
    let thumbprint = digest(&[("e", &e_text), ("kty", "RSA"), ("n", &n_text)]);
    usable.then_some((Material::Rsa { n, e }, thumbprint))
}

fn verify_p521(point: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let key = p521::ecdsa::VerifyingKey::from_sec1_bytes(point);
    let signature = p521::ecdsa::Signature::from_slice(signature);
    matches!((key, signature), (Ok(key), Ok(signature)) if key.verify(message, &signature).is_ok())
}

fn verifies(jwk: Node<'_>) -> bool {
    let for_signatures = jwk
        .get("use")
        .is_none_or(|node| node.as_str().as_deref() == Some("sig"));
    let to_verify = jwk.get("key_ops").is_none_or(|node| {
        node.items()
            .any(|item| item.as_str().as_deref() == Some("verify"))
    });
    for_signatures && to_verify
}

fn text(jwk: Node<'_>, name: &str) -> Option<String> {
    Some(jwk.get(name)?.as_str()?.into_owned())
}

/// None when there is such a member and it is no string.
#[expect(clippy::option_option, reason = "the outer one is the verdict")]
fn optional_text(jwk: Node<'_>, name: &str) -> Option<Option<String>> {
    match jwk.get(name) {
        None => Some(None),
        Some(node) => Some(Some(node.as_str()?.into_owned())),
    }
}

/// SHA-256 over the required members in the order of their names, without white space (RFC 7638 §3).
fn digest(members: &[(&str, &str)]) -> String {
    let mut object = Object::default();
    for (name, value) in members {
        object.string(name, value);
    }
    base64url::encode(&Sha256::digest(object.end()))
}

/// The bits of a big-endian number.
fn bits(octets: &[u8]) -> usize {
    let zeros = octets.iter().take_while(|octet| **octet == 0).count();
    octets[zeros..].first().map_or(0, |first| {
        (octets.len() - zeros) * 8 - first.leading_zeros() as usize
    })
}

/// What a public key never has (RFC 7518 §6.2.2, §6.3.2, §6.4).
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// Begins a point whose two coordinates follow.
const UNCOMPRESSED: u8 = 4;

const MAX_RSA_BITS: usize = 8_192;

/// Of a larger exponent ring verifies nothing, and a signature would take long.
const MAX_RSA_EXPONENT_BITS: usize = 33;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jws::object;

    fn key(jwk: &str) -> Option<Key> {
        Key::parse(object(jwk.as_bytes().to_vec())?.root())
    }

    const P256: &str = r#""kty":"EC","crv":"P-256","x":"Uox0_onOoY_FvSGUsdxkvnUelpDa-UkUoYr5zq411wQ","y":"zHaWy_TgSDKcfDZLFoEBfOWvjzrYw4Q8fLDbVsvtaJQ""#;

    #[test]
    fn the_thumbprint_is_that_of_rfc_7638() {
        let example = r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#;
        let thumbprint = key(example).unwrap().thumbprint;
        assert_eq!(thumbprint, "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    }

    #[test]
    fn only_whole_public_keys_are_keys() {
        assert!(key(&format!("{{{P256}}}")).is_some());
        for broken in [
            format!(r#"{{{P256},"d":"AA"}}"#),
            format!(r#"{{{P256},"kid":7}}"#),
            format!("{{{}}}", P256.replace("Uox0", "Uox1")),
            format!("{{{}}}", P256.replace("P-256", "P-384")),
            r#"{"kty":"oct","k":"AAAA"}"#.to_owned(),
            r#"{"kty":"OKP","crv":"X25519","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#
                .to_owned(),
            r#"{"kty":"RSA","n":"","e":"AQAB"}"#.to_owned(),
            r#"{"kty":"RSA","n":"AQ","e":"AQ"}"#.to_owned(),
        ] {
            assert!(key(&broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn a_key_for_one_algorithm_fits_no_other() {
        let [es256, es384] = ["ES256", "ES384"].map(|name| Algorithm::parse(name).unwrap());
        assert!(key(&format!("{{{P256}}}")).unwrap().fits(es256));
        assert!(!key(&format!("{{{P256}}}")).unwrap().fits(es384));
        let for_another = key(&format!(r#"{{{P256},"alg":"ES384"}}"#)).unwrap();
        assert!(!for_another.fits(es256));
    }

    #[test]
    fn bits_are_counted_from_the_highest() {
        for (octets, expected) in [(&[][..], 0), (&[0, 0], 0), (&[1, 0], 9), (&[0, 0x80], 8)] {
            assert_eq!(bits(octets), expected);
        }
    }
}
