//! A `DPoP` proof (RFC 9449 §4.3): what it proves without a look at the token's claims.

use mcp_json::Node;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    algorithm::Algorithm,
    base64url,
    config::Config,
    credentials::Head,
    jws::{Jws, object},
    key::Key,
    nonce::RENEW_AGE_S,
    number,
    reason::Reason,
    token::TokenDigest,
    uri::Uri,
};

/// A proof that holds.
pub(crate) struct Proof {
    /// Of the key that signed it (RFC 7638).
    pub(crate) thumbprint: String,
    /// By what a replay store knows the proof.
    pub(crate) replay_key: String,
    /// Whether the answer should bring the next nonce along.
    pub(crate) renews_nonce: bool,
}

/// Checks a proof for a request with this token.
pub(crate) fn check(
    proof: &[u8],
    token: TokenDigest,
    head: &Head<'_>,
    config: &Config,
    now: u64,
) -> Result<Proof, Reason> {
    let text = str::from_utf8(proof)
        .ok()
        .filter(|text| text.len() <= MAX_OCTETS)
        .ok_or(Reason::DpopMalformed)?;
    let jws = Jws::parse(text).ok_or(Reason::DpopMalformed)?;
    let key = check_signature(&jws, config)?;
    let claims = object(jws.payload).ok_or(Reason::DpopMalformed)?;
    let claims = claims.root();
    check_request(claims, head, config)?;
    check_age(claims, now)?;
    let jti = text_of(claims, "jti")
        .filter(|jti| (1..=MAX_JTI_OCTETS).contains(&jti.len()))
        .ok_or(Reason::DpopJtiInvalid)?;
    check_token_hash(claims, token)?;
    let renews_nonce = check_nonce(claims, config, now)?;
    Ok(Proof {
        replay_key: replay_key(key.thumbprint(), &jti),
        thumbprint: key.thumbprint().to_owned(),
        renews_nonce,
    })
}

fn check_signature(jws: &Jws<'_>, config: &Config) -> Result<Key, Reason> {
    let header = jws.header();
    if text_of(header, "typ").as_deref() != Some("dpop+jwt") {
        return Err(Reason::DpopTyp);
    }
    let allowed = &config.settings().dpop_algs;
    let algorithm = text_of(header, "alg")
        .and_then(|name| Algorithm::parse(&name))
        .filter(|algorithm| allowed.contains(algorithm))
        .ok_or(Reason::DpopAlg)?;
    if header.get("crit").is_some() {
        return Err(Reason::DpopCrit);
    }
    let min_rsa_bits = config.settings().min_rsa_bits;
    let key = header
        .get("jwk")
        .and_then(Key::parse)
        .filter(|key| key.verifies() && key.fits(algorithm) && !key.is_under(min_rsa_bits))
        .ok_or(Reason::DpopJwk)?;
    match key.verify(algorithm, jws.signed, &jws.signature) {
        true => Ok(key),
        false => Err(Reason::DpopSignature),
    }
}

/// The request as its sender meant it. Our side of `htu` is the configured origin, never a header of the request.
fn check_request(claims: Node<'_>, head: &Head<'_>, config: &Config) -> Result<(), Reason> {
    if text_of(claims, "htm").as_deref() != Some(head.method) {
        return Err(Reason::DpopHtmMismatch);
    }
    let ours = config.resource().uri().with_target(head.target);
    let theirs = text_of(claims, "htu").and_then(|htu| Uri::parse(&htu));
    match theirs == Some(ours) {
        true => Ok(()),
        false => Err(Reason::DpopHtuMismatch),
    }
}

fn check_age(claims: Node<'_>, now: u64) -> Result<(), Reason> {
    let issued_at = claims
        .get("iat")
        .and_then(number::finite)
        .ok_or(Reason::DpopIatInvalid)?;
    if issued_at > (now + MAX_AHEAD_S) as f64 {
        return Err(Reason::DpopFuture);
    }
    match issued_at < now.saturating_sub(MAX_AGE_S) as f64 {
        true => Err(Reason::DpopStale),
        false => Ok(()),
    }
}

/// `ath`: the proof is for this token and no other.
fn check_token_hash(claims: Node<'_>, token: TokenDigest) -> Result<(), Reason> {
    let theirs = text_of(claims, "ath").ok_or(Reason::DpopAthMissing)?;
    let ours = base64url::encode(token.octets());
    match ours.as_bytes().ct_eq(theirs.as_bytes()).into() {
        true => Ok(()),
        false => Err(Reason::DpopAthMismatch),
    }
}

fn check_nonce(claims: Node<'_>, config: &Config, now: u64) -> Result<bool, Reason> {
    let Some(nonces) = &config.settings().nonces else {
        return Ok(false);
    };
    text_of(claims, "nonce")
        .and_then(|nonce| nonces.age(&nonce, now))
        .map(|age| age > RENEW_AGE_S)
        .ok_or(Reason::DpopNonce)
}

/// The key and the id together: another's id is another proof's.
fn replay_key(thumbprint: &str, jti: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(thumbprint);
    hash.update([0]);
    hash.update(jti);
    base64url::encode(&hash.finalize())
}

fn text_of(node: Node<'_>, name: &str) -> Option<String> {
    Some(node.get(name)?.as_str()?.into_owned())
}

/// How long a proof is remembered: while it could be shown again, and a second.
pub(crate) const REPLAY_TTL_S: u64 = MAX_AGE_S + MAX_AHEAD_S + 1;

const MAX_AGE_S: u64 = 60;
const MAX_AHEAD_S: u64 = 30;
const MAX_OCTETS: usize = 8_192;
const MAX_JTI_OCTETS: usize = 256;
