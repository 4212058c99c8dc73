//! The claims of an access token whose signature is right (RFC 9068 §4, RFC 7519 §4.1), or what its issuer says of it.

use mcp_json::{Document, Kind, Node};

use crate::{
    config::{AudienceMode, Config, Issuer},
    facts::Facts,
    introspection::Introspection,
    jws::object,
    number,
    reason::Reason,
    scope::{Scope, Scopes},
};

/// Reads and checks them all.
pub(crate) fn check(
    document: &Document,
    config: &Config,
    issuer_index: usize,
    now: u64,
) -> Result<Facts, Reason> {
    let claims = document.root();
    let settings = config.settings();
    let issuer = config.issuer(issuer_index);
    if issuer.introspection.is_none() {
        check_required(claims, &settings.required_claims, issuer)?;
    }
    let iss = string(claims.get("iss")).ok_or(Reason::InvalidIssuer)?;
    if iss != issuer.issuer {
        return Err(Reason::InvalidIssuer);
    }
    let audience = audience(claims, config)?;
    let times = Times::read(claims, issuer.introspection)?;
    times.check(config, now)?;
    let (jkt, x5t) = confirmation(claims.get("cnf"))?;
    Ok(Facts {
        issuer_index,
        issuer: iss,
        subject: identifier(claims, "sub")?.ok_or(Reason::MissingClaim)?,
        client_id: client_id(claims, issuer)?,
        jti: identifier(claims, "jti")?,
        scopes: scopes(claims, issuer)?,
        audience,
        expires_at: times.expires_at,
        not_before: times.not_before,
        issued_at: times.issued_at,
        acr: claims.get("acr").and_then(|node| string(Some(node))),
        auth_time: claims.get("auth_time").and_then(number::seconds),
        jkt,
        x5t,
        claims: document.bytes().to_vec(),
    })
}

/// The times again, for a token that was verified before.
pub(crate) fn check_times(facts: &Facts, config: &Config, now: u64) -> Result<(), Reason> {
    let times = Times {
        expires_at: facts.expires_at,
        not_before: facts.not_before,
        issued_at: facts.issued_at,
    };
    times.check(config, now)
}

/// Reads `iss` before anything is verified, only to know whose keys to try.
pub(crate) fn claimed_issuer(payload: &[u8]) -> Result<String, Reason> {
    let document = object(payload.to_vec()).ok_or(Reason::MalformedClaims)?;
    string(document.root().get("iss")).ok_or(Reason::InvalidIssuer)
}

fn check_required(claims: Node<'_>, required: &[String], issuer: &Issuer) -> Result<(), Reason> {
    let is_there = |name: &str| claims.get(name).is_some();
    let missing = required.iter().any(|name| match &**name {
        "client_id" => !issuer.client_id_claims.iter().any(|name| is_there(name)),
        name => !is_there(name),
    });
    match missing {
        true => Err(Reason::MissingClaim),
        false => Ok(()),
    }
}

/// Exact strings: no prefix, no origin, no slash more or less.
fn audience(claims: Node<'_>, config: &Config) -> Result<Vec<String>, Reason> {
    let node = claims.get("aud").ok_or(Reason::MissingClaim)?;
    let audience = strings(node).ok_or(Reason::InvalidClaim)?;
    let settings = config.settings();
    let known = |one: &String| settings.audiences.contains(one);
    let meant = match settings.aud_mode {
        AudienceMode::Any => audience.iter().any(known),
        AudienceMode::All => !audience.is_empty() && audience.iter().all(known),
    };
    match meant {
        true => Ok(audience),
        false => Err(Reason::InvalidAudience),
    }
}

struct Times {
    expires_at: f64,
    not_before: Option<f64>,
    issued_at: Option<f64>,
}

impl Times {
    fn read(claims: Node<'_>, introspection: Option<Introspection>) -> Result<Self, Reason> {
        let time = |name| match claims.get(name) {
            None => Ok(None),
            Some(node) => number::seconds(node).map(Some).ok_or(Reason::InvalidClaim),
        };
        let end = match introspection {
            Some(Introspection {
                allow_unbounded: true,
            }) => Ok(f64::INFINITY),
            _ => Err(Reason::MissingClaim),
        };
        Ok(Self {
            expires_at: time("exp")?.map_or(end, Ok)?,
            not_before: time("nbf")?,
            issued_at: time("iat")?,
        })
    }

    fn check(&self, config: &Config, now: u64) -> Result<(), Reason> {
        let settings = config.settings();
        let (now, leeway) = (now as f64, f64::from(settings.leeway_s));
        let ahead = |time: Option<f64>| time.is_some_and(|time| time > now + leeway);
        if self.expires_at + leeway <= now {
            return Err(Reason::Expired);
        }
        if ahead(self.not_before) {
            return Err(Reason::NotYetValid);
        }
        if ahead(self.issued_at) {
            return Err(Reason::IssuedInFuture);
        }
        match (settings.max_token_age_s, self.issued_at) {
            (Some(max), Some(issued_at)) if issued_at + max as f64 + leeway <= now => {
                Err(Reason::TokenTooOld)
            }
            _ => Ok(()),
        }
    }
}

/// A string that names somebody or something.
fn identifier(claims: Node<'_>, name: &str) -> Result<Option<String>, Reason> {
    match claims.get(name) {
        None => Ok(None),
        Some(node) => string(Some(node))
            .filter(|text| (1..=MAX_IDENTIFIER_OCTETS).contains(&text.len()))
            .map(Some)
            .ok_or(Reason::InvalidClaim),
    }
}

fn client_id(claims: Node<'_>, issuer: &Issuer) -> Result<Option<String>, Reason> {
    let mut names = issuer.client_id_claims.iter();
    match names.find(|name| claims.get(name).is_some()) {
        None => Ok(None),
        Some(name) => identifier(claims, name),
    }
}

/// The scopes of every claim that has some (RFC 8693 §4.2). Only `scp` and its like may be arrays.
fn scopes(claims: Node<'_>, issuer: &Issuer) -> Result<Scopes, Reason> {
    let mut scopes = Scopes::default();
    for name in &issuer.scope_claims {
        let Some(node) = claims.get(name) else {
            continue;
        };
        let words = match node.kind() {
            Kind::String => string(Some(node))
                .filter(|text| !text.is_empty())
                .map(|text| text.split(' ').map(str::to_owned).collect())
                .unwrap_or_default(),
            Kind::Array if name != "scope" => strings(node).ok_or(Reason::InvalidClaim)?,
            _ => return Err(Reason::InvalidClaim),
        };
        for word in &words {
            scopes.add(Scope::parse(word).ok_or(Reason::InvalidClaim)?);
        }
    }
    Ok(scopes)
}

/// `jkt` and `x5t#S256` of `cnf` (RFC 7800 §3). What we do not know would bind the token to something that nobody
/// checks.
fn confirmation(cnf: Option<Node<'_>>) -> Result<(Option<String>, Option<String>), Reason> {
    let Some(cnf) = cnf else {
        return Ok((None, None));
    };
    let known = |name: &str| matches!(name, "jkt" | "x5t#S256");
    if cnf.len() == 0 || cnf.kind() != Kind::Object || !cnf.members().all(|(name, _)| known(&name))
    {
        return Err(Reason::UnsupportedConfirmation);
    }
    let thumbprint = |name| match cnf.get(name) {
        None => Ok(None),
        Some(node) => string(Some(node))
            .filter(|text| is_thumbprint(text))
            .map(Some)
            .ok_or(Reason::UnsupportedConfirmation),
    };
    Ok((thumbprint("jkt")?, thumbprint("x5t#S256")?))
}

/// SHA-256 as base64url.
fn is_thumbprint(text: &str) -> bool {
    let of_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() == 43 && text.bytes().all(of_alphabet)
}

fn string(node: Option<Node<'_>>) -> Option<String> {
    Some(node?.as_str()?.into_owned())
}

/// One string, or an array of strings.
fn strings(node: Node<'_>) -> Option<Vec<String>> {
    match node.kind() {
        Kind::Array => node.items().map(|item| string(Some(item))).collect(),
        _ => Some(vec![string(Some(node))?]),
    }
}

const MAX_IDENTIFIER_OCTETS: usize = 1_024;
