//! The private key by which this server says who it is (RFC 7523 §2.2).

use std::{error, fmt};

use ring::{
    rand::{SecureRandom, SystemRandom},
    rsa,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256,
        RSA_PSS_SHA256, RsaEncoding,
    },
};
use rustls_pki_types::{PrivateKeyDer, pem::PemObject};
use zeroize::Zeroize;

use crate::{base64url, object::Object, secret::Secret};

/// Signs assertions of who asks. The key is read once and never given out.
pub struct ClientKey {
    pair: Pair,
    algorithm: &'static str,
    kid: Option<String>,
}

/// Why a text is no key to sign with. Nothing of it is in here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ClientKeyError {
    /// No private key in PEM.
    None,
    /// A key that asks for a password.
    Encrypted,
    /// A key of another type, size or form.
    Unsupported,
    /// An algorithm that the key does not sign by.
    Algorithm {
        /// What was asked for.
        asked: String,
        /// By which it signs.
        signs: &'static [&'static str],
    },
}

/// The operating system gave no random octets, or the key is broken: nothing is signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unsigned;

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(rsa::KeyPair),
}

impl ClientKey {
    /// Reads a private key in PEM: PKCS#8, or PKCS#1 of RSA. `algorithm` is one of ES256, RS256, PS256 and `EdDSA`; without
    /// it the key's own, of RSA RS256.
    ///
    /// # Errors
    /// What is wrong with the text, or with the algorithm for it.
    pub fn parse(
        pem: &[u8],
        algorithm: Option<&str>,
        kid: Option<&str>,
    ) -> Result<Self, ClientKeyError> {
        let mut der = PrivateKeyDer::from_pem_slice(pem).map_err(|_| unread(pem))?;
        let pair = Pair::read(&der);
        der.zeroize();
        let pair = pair.ok_or(ClientKeyError::Unsupported)?;
        let signs = pair.algorithms();
        let asked = algorithm.unwrap_or(signs[0]);
        let algorithm = signs.iter().find(|name| **name == asked);
        Ok(Self {
            algorithm: algorithm.ok_or_else(|| ClientKeyError::Algorithm {
                asked: asked.to_owned(),
                signs,
            })?,
            pair,
            kid: kid.map(str::to_owned),
        })
    }

    /// An assertion that nobody has seen before, good for a minute (RFC 7523 §3). Signing takes up to a few milliseconds.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub(crate) fn assert(
        &self,
        client_id: &str,
        audience: &str,
        now: u64,
    ) -> Result<Secret, Unsigned> {
        let mut id = [0; 16];
        SystemRandom::new().fill(&mut id).map_err(|_| Unsigned)?;
        let mut claims = Object::default();
        claims.string("iss", client_id);
        claims.string("sub", client_id);
        claims.string("aud", audience);
        claims.string("jti", &base64url::encode(&id));
        claims.number("iat", now);
        claims.number("exp", now + GOOD_FOR_S);
        let [header, claims] = [self.header(), claims.end()].map(|part| base64url::encode(&part));
        let signed = format!("{header}.{claims}");
        let signature = self.sign(signed.as_bytes()).map_err(|_| Unsigned)?;
        let assertion = format!("{signed}.{}", base64url::encode(&signature));
        Ok(Secret::new(assertion.into_bytes()))
    }

    fn header(&self) -> Vec<u8> {
        let mut header = Object::default();
        header.string("alg", self.algorithm);
        header.string("typ", "JWT");
        if let Some(kid) = &self.kid {
            header.string("kid", kid);
        }
        header.end()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, ring::error::Unspecified> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ecdsa(pair) => Ok(pair.sign(&random, message)?.as_ref().to_vec()),
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let padding: &dyn RsaEncoding = match self.algorithm == PS256 {
                    true => &RSA_PSS_SHA256,
                    false => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, message, &mut signature)?;
                Ok(signature)
            }
        }
    }
}

impl Pair {
    fn read(der: &PrivateKeyDer<'_>) -> Option<Self> {
        match der {
            PrivateKeyDer::Pkcs1(key) => rsa::KeyPair::from_der(key.secret_pkcs1_der())
                .ok()
                .map(Self::Rsa),
            PrivateKeyDer::Pkcs8(key) => Self::read_pkcs8(key.secret_pkcs8_der()),
            _ => None,
        }
    }

    /// Each type says that another one's key is none of its own.
    fn read_pkcs8(der: &[u8]) -> Option<Self> {
        let ecdsa = || {
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &SystemRandom::new())
        };
        let ed25519 = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(der);
        let rsa = || rsa::KeyPair::from_pkcs8(der);
        ecdsa()
            .map(Self::Ecdsa)
            .or_else(|_| ed25519().map(Self::Ed25519))
            .or_else(|_| rsa().map(Self::Rsa))
            .ok()
    }

    /// By which it signs, the usual one first.
    fn algorithms(&self) -> &'static [&'static str] {
        match self {
            Self::Ecdsa(_) => &["ES256"],
            Self::Ed25519(_) => &["EdDSA"],
            Self::Rsa(_) => &["RS256", PS256],
        }
    }
}

fn unread(pem: &[u8]) -> ClientKeyError {
    match pem.windows(ENCRYPTED.len()).any(|bytes| bytes == ENCRYPTED) {
        true => ClientKeyError::Encrypted,
        false => ClientKeyError::None,
    }
}

/// Shows how it signs.
impl fmt::Debug for ClientKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ClientKey({})", self.algorithm)
    }
}

/// Begins with the option that is wrong.
impl fmt::Display for ClientKeyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => out.write_str("client_key: it holds no private key in PEM"),
            Self::Encrypted => out.write_str(
                "client_key: the key is encrypted, and nobody is asked for its password: decrypt it with `openssl pkey`",
            ),
            Self::Unsupported => out.write_str(
                "client_key: the key is none of RSA (2,048 to 4,096 bits), P-256 and Ed25519 in PKCS#8: `openssl pkcs8 -topk8 -nocrypt` writes that",
            ),
            Self::Algorithm { asked, signs } => {
                write!(out, "alg: {asked:?} is none of what the key signs by: {}", signs.join(", "))
            }
        }
    }
}

impl error::Error for ClientKeyError {}

impl fmt::Display for Unsigned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the assertion of who asks cannot be signed")
    }
}

impl error::Error for Unsigned {}

const PS256: &str = "PS256";
const ENCRYPTED: &[u8] = b"ENCRYPTED";
const GOOD_FOR_S: u64 = 60;

#[cfg(test)]
pub(crate) mod tests {
    use std::{fs, path::Path};

    use serde_json::Value;

    use super::*;
    use crate::{
        algorithm::Algorithm,
        jws::{Jws, object},
        key::Key,
    };

    const NOW: u64 = 1_800_000_000;

    /// One of the recorded keys of clients.
    pub(crate) fn recorded(name: &str) -> ClientKey {
        ClientKey::parse(&pem(name), None, Some(name)).unwrap()
    }

    fn pem(name: &str) -> Vec<u8> {
        read(&format!("client-keys/{name}.pem"))
    }

    fn read(file: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/fixtures/auth");
        fs::read(folder.join(file)).unwrap()
    }

    /// The public half, as it was recorded beside the private one.
    fn public(name: &str) -> Key {
        let keys: Value = serde_json::from_slice(&read("keys.json")).unwrap();
        let mut jwk = keys["private_jwk"][name].clone();
        let members = jwk.as_object_mut().unwrap();
        members.retain(|name, _| ["kty", "crv", "x", "y", "n", "e"].contains(&&**name));
        Key::parse(object(jwk.to_string().into()).unwrap().root()).unwrap()
    }

    /// The header and the claims of an assertion whose signature is that of the recorded key `name`.
    fn assertion(key: &ClientKey, name: &str) -> (String, String) {
        let assertion = key.assert("mcp", "https://a.example", NOW).unwrap();
        let jws = Jws::parse(str::from_utf8(assertion.bytes()).unwrap()).unwrap();
        let algorithm = Algorithm::parse(key.algorithm).unwrap();
        assert!(public(name).verify(algorithm, jws.signed, &jws.signature));
        let claims = String::from_utf8(jws.payload.clone()).unwrap();
        (jws.header().raw().to_owned(), claims)
    }

    #[test]
    fn an_assertion_says_who_asks_whom_and_for_how_long() {
        let name = "client-es256-a";
        let key = recorded(name);
        let (header, claims) = assertion(&key, name);
        assert_eq!(
            header,
            r#"{"alg":"ES256","typ":"JWT","kid":"client-es256-a"}"#
        );
        let before = r#"{"iss":"mcp","sub":"mcp","aud":"https://a.example","jti":""#;
        let after = r#"","iat":1800000000,"exp":1800000060}"#;
        let id = claims.strip_prefix(before).unwrap().strip_suffix(after);
        assert_eq!(id.unwrap().len(), 22);
        assert_ne!(assertion(&key, name).1, claims);
    }

    #[test]
    fn each_key_signs_by_the_algorithms_of_its_type() {
        for (file, name, asked, used) in [
            ("client-es256-a", "client-es256-a", None, "ES256"),
            ("client-ed25519", "client-ed25519", Some("EdDSA"), "EdDSA"),
            ("client-rsa2048", "client-rsa2048", None, "RS256"),
            ("client-rsa2048", "client-rsa2048", Some("PS256"), "PS256"),
            ("client-rsa2048-pkcs1", "client-rsa2048", None, "RS256"),
        ] {
            let key = ClientKey::parse(&pem(file), asked, None).unwrap();
            let expected = format!(r#"{{"alg":"{used}","typ":"JWT"}}"#);
            assert_eq!(assertion(&key, name).0, expected);
            assert_eq!(format!("{key:?}"), format!("ClientKey({used})"));
        }
    }

    #[test]
    fn what_is_no_key_is_refused_with_its_option() {
        for (pem, algorithm, expected) in [
            (
                b"secret".to_vec(),
                None,
                "client_key: it holds no private key",
            ),
            (
                pem("client-es256-a-encrypted"),
                None,
                "client_key: the key is encrypted",
            ),
            (
                pem("client-es256-a-sec1"),
                None,
                "client_key: the key is none of RSA",
            ),
            (
                pem("client-rsa1024"),
                None,
                "client_key: the key is none of RSA",
            ),
            (
                pem("client-ed25519"),
                Some("ES256"),
                r#"alg: "ES256" is none of what the key signs by: EdDSA"#,
            ),
            (
                pem("client-rsa2048"),
                Some("none"),
                r#"alg: "none" is none of what the key signs by: RS256, PS256"#,
            ),
        ] {
            let error = ClientKey::parse(&pem, algorithm, None).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }
}
