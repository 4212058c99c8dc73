//! An access token in JWT form (RFC 9068), from its bytes to its facts.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{
    algorithm::Algorithm,
    claims,
    config::{Config, Issuer},
    facts::Facts,
    jws::{Jws, object},
    key_set::{Keys, Missing},
    reason::Reason,
};

/// What is remembered of a token: its SHA-256, never the token.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct TokenDigest([u8; 32]);

/// A token whose signature and claims were found right, for a cache. What changes with time and sender is checked
/// again on each use.
pub type Verified = Arc<Facts>;

/// Why there are no facts.
pub(crate) enum Unverified {
    Refused(Reason),
    /// Its issuer is to be asked about it.
    Inquire,
    NeedKeys {
        issuer: usize,
        kid: Option<String>,
    },
}

impl TokenDigest {
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// The octets of the hash.
    pub fn octets(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Checks size, whether the issuer is to be asked instead, form, header, key, signature and claims, in this order.
pub(crate) fn verify(
    token: &str,
    config: &Config,
    keys: &Keys,
    now: u64,
) -> Result<Facts, Unverified> {
    if token.len() > config.settings().max_token_bytes {
        return Err(Reason::TokenTooLarge.into());
    }
    if let [
        Issuer {
            introspection: Some(_),
            ..
        },
    ] = config.issuers()
    {
        return Err(Unverified::Inquire);
    }
    let Some(jws) = Jws::parse(token) else {
        return Err(opaque(config));
    };
    let header = Header::read(&jws)?;
    let issuer = choose_issuer(&jws, config)?;
    if config.introspected() == Some(issuer) {
        return Err(Unverified::Inquire);
    }
    let allowed = config.issuer(issuer).algorithms();
    let algorithm = Algorithm::parse(&header.alg)
        .filter(|algorithm| allowed.contains(algorithm))
        .ok_or(Reason::AlgNotAllowed)?;
    let min_rsa_bits = config.settings().min_rsa_bits;
    let key = keys
        .select(issuer, header.kid.as_deref(), algorithm, min_rsa_bits)
        .map_err(|missing| Unverified::missing(missing, issuer, header.kid.as_deref()))?;
    if !key.verify(algorithm, jws.signed, &jws.signature) {
        return Err(Reason::InvalidSignature.into());
    }
    let claims = object(jws.payload).ok_or(Reason::MalformedClaims)?;
    check_typ(&header.typ, &config.settings().accept_typ)?;
    Ok(claims::check(&claims, config, issuer, now)?)
}

/// What is read of a header. `jku`, `jwk`, `x5u` and `x5c` are not: a key never comes with the token it signs.
struct Header {
    alg: String,
    kid: Option<String>,
    typ: String,
}

impl Header {
    fn read(jws: &Jws<'_>) -> Result<Self, Reason> {
        let header = jws.header();
        let text = |name| match header.get(name) {
            None => Ok(None),
            Some(node) => match node.as_str() {
                Some(text) => Ok(Some(text.into_owned())),
                None => Err(Reason::MalformedToken),
            },
        };
        let read = Self {
            alg: text("alg")?.ok_or(Reason::MalformedToken)?,
            kid: text("kid")?,
            typ: text("typ")?.unwrap_or_default(),
        };
        match header.get("crit") {
            None => Ok(read),
            Some(_) => Err(Reason::UnsupportedCrit),
        }
    }
}

/// What becomes of a token that is no signed one.
fn opaque(config: &Config) -> Unverified {
    match config.introspected() {
        Some(_) => Unverified::Inquire,
        None => Unverified::Refused(Reason::MalformedToken),
    }
}

/// Whose token it claims to be. With one issuer nothing is believed before it is verified.
fn choose_issuer(jws: &Jws<'_>, config: &Config) -> Result<usize, Reason> {
    if let [_] = config.issuers() {
        return Ok(0);
    }
    let claimed = claims::claimed_issuer(&jws.payload)?;
    let mut issuers = config.issuers().iter();
    issuers
        .position(|issuer| issuer.issuer == claimed)
        .ok_or(Reason::InvalidIssuer)
}

/// `typ` without regard to case and with or without `application/` (RFC 9068 §2.1, RFC 7515 §4.1.9).
fn check_typ(typ: &str, accepted: &[String]) -> Result<(), Reason> {
    let typ = typ.to_ascii_lowercase();
    let typ = typ.strip_prefix("application/").unwrap_or(&typ);
    match accepted.iter().any(|one| one.eq_ignore_ascii_case(typ)) {
        true => Ok(()),
        false => Err(Reason::UnexpectedTyp),
    }
}

impl Unverified {
    fn missing(missing: Missing, issuer: usize, kid: Option<&str>) -> Self {
        match missing {
            Missing::Refused(reason) => Self::Refused(reason),
            Missing::Fetch => Self::NeedKeys {
                issuer,
                kid: kid.map(str::to_owned),
            },
        }
    }
}

impl From<Reason> for Unverified {
    fn from(reason: Reason) -> Self {
        Self::Refused(reason)
    }
}

/// Shows nothing: who has a token knows its digest.
impl fmt::Debug for TokenDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TokenDigest(..)")
    }
}
