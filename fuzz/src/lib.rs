//! What becomes of bytes from outside, one function for each place where they come in. A function panics when a
//! promise is broken, and tells whether the bytes were taken for what they should be.
//!
//! Fuzzers call these, and so does `native/auth/tests/corpus`, over the corpus that is kept. Neither could sign what a
//! fuzzer makes up, so that all would end at the signature: an input of two lines is header and claims in JSON, which
//! are signed here by an issuer, or a client, that is known.

use std::sync::{Arc, LazyLock};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use mcp_auth::{
    Binding, Certificate, Challenge, Config, Decision, Head, Issuer, KeySet, Keys, Reason, Scheme,
    Settings, Wanted, check,
};
use ring::{
    digest,
    signature::{Ed25519KeyPair, KeyPair},
};

/// Tries bytes, and tells whether they were taken.
pub type Target = fn(&[u8]) -> bool;

/// Every function by the name of its corpus.
pub const TARGETS: [(&str, Target); 5] = [
    ("token", token),
    ("proof", proof),
    ("challenge", challenge),
    ("certificate", certificate),
    ("jwks", jwks),
];

/// An access token, in an `Authorization` header.
pub fn token(bytes: &[u8]) -> bool {
    let signed = sign_lines(bytes);
    let token = signed.as_deref().unwrap_or(bytes);
    let Some(accepted) = accepted(&[b"Bearer ", token].concat(), &[]) else {
        return false;
    };
    assert!(signed.is_some() || is_recorded(token), "nobody signed this");
    let facts = accepted.facts;
    assert_eq!(facts.issuer == ISSUER, signed.is_some());
    assert!(facts.audience.iter().any(|audience| audience == RESOURCE));
    assert!(facts.expires_at + LEEWAY_S > NOW as f64);
    assert!(!facts.subject.is_empty());
    assert!(
        facts.jkt().is_none() && facts.x5t().is_none(),
        "bound, and nothing was shown"
    );
    assert_eq!(accepted.binding, Binding::Bearer);
    true
}

/// A proof, in a `DPoP` header beside a token that is bound to a key of ours.
pub fn proof(bytes: &[u8]) -> bool {
    static AUTHORIZATION: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let claims = BOUND_CLAIMS.replace("JKT", &ours().thumbprint);
        [
            b"DPoP ".to_vec(),
            sign(TOKEN_HEADER.as_bytes(), claims.as_bytes()),
        ]
        .concat()
    });
    let signed = sign_lines(bytes);
    let proof = signed.as_deref().unwrap_or(bytes);
    let Some(accepted) = accepted(&AUTHORIZATION, &[proof]) else {
        return false;
    };
    assert!(signed.is_some(), "nobody signed this");
    assert_eq!(accepted.binding, Binding::Dpop);
    assert!(accepted.replay.is_some_and(|replay| replay.key.len() == 43));
    true
}

/// What a challenge tells a client to bring: a line of scopes, a line of classes of sign-in, its age.
pub fn challenge(bytes: &[u8]) -> bool {
    let (which, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(rest);
    let mut lines = text.splitn(3, '\n').map(str::to_owned);
    let wanted = Wanted {
        scope: lines.next(),
        acr_values: lines.next(),
        max_age_s: lines.next().and_then(|digits| digits.parse().ok()),
    };
    let reason = Reason::all()
        .nth(usize::from(*which))
        .unwrap_or(Reason::NoCredentials);
    let challenge = Challenge {
        config: &ours().config,
        reason,
        scheme: Scheme::Bearer,
        wanted: &wanted,
    };
    let lines = challenge.lines();
    for line in &lines {
        let parameters = read_challenge(line).expect("a challenge can be read again");
        let value = |name| {
            let mut named = parameters.iter().filter(|(key, _)| key == name);
            let found = named.next().map(|(_, value)| &**value);
            assert!(named.next().is_none(), "{name} comes twice");
            found
        };
        assert_eq!(value("scope"), printable(wanted.scope.as_deref()));
        assert_eq!(value("acr_values"), printable(wanted.acr_values.as_deref()));
        assert_eq!(value("resource_metadata"), Some(METADATA));
    }
    !lines.is_empty()
}

/// The value of a proxy's `Client-Cert` header.
pub fn certificate(bytes: &[u8]) -> bool {
    let certificate = Certificate::from_header(bytes);
    let Some(thumbprint) = certificate.thumbprint() else {
        assert_eq!(certificate, Certificate::unreadable());
        return false;
    };
    let der = STANDARD
        .decode(&bytes[1..bytes.len() - 1])
        .expect("it was decoded");
    assert_eq!(bytes, format!(":{}:", STANDARD.encode(&der)).as_bytes());
    assert_eq!(certificate, Certificate::from_der(&der));
    assert_eq!(thumbprint.len(), 43);
    true
}

/// An issuer's key set, and a token that looks for its key in it.
pub fn jwks(bytes: &[u8]) -> bool {
    let Ok(set) = KeySet::parse(bytes) else {
        return false;
    };
    assert!((1..=32).contains(&set.len()));
    let keys = Keys::fixed(vec![Arc::new(set), Arc::clone(&ours().set)]);
    let config = &ours().config;
    for token in RECORDED
        .split('"')
        .filter(|text| text.starts_with("eyJ"))
        .take(8)
    {
        let authorization = format!("Bearer {token}");
        // Whether the key is in the set decides; nothing else is promised.
        let _ = check(&head(authorization.as_bytes(), &[]), config, &keys, NOW);
    }
    true
}

/// What all inputs are held against.
struct Ours {
    config: Config,
    keys: Keys,
    set: Arc<KeySet>,
    signer: Ed25519KeyPair,
    /// Of the signer's key (RFC 7638).
    thumbprint: String,
}

fn ours() -> &'static Ours {
    static OURS: LazyLock<Ours> = LazyLock::new(|| {
        let signer = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a seed has 32 octets");
        let x = URL_SAFE_NO_PAD.encode(signer.public_key());
        let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        let named = jwk.replacen('{', r#"{"kid":"fuzz","#, 1);
        let set = KeySet::parse(format!(r#"{{"keys":[{named}]}}"#).as_bytes());
        let set = Arc::new(set.expect("a set of one key"));
        let recorded = KeySet::parse(JWKS).expect("the fixture has keys");
        let issuers = vec![Issuer::new("https://auth.example.com"), Issuer::new(ISSUER)];
        Ours {
            config: Config::new(Settings::new(RESOURCE, issuers)).expect("the settings are right"),
            keys: Keys::fixed(vec![Arc::new(recorded), Arc::clone(&set)]),
            set,
            thumbprint: URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, jwk.as_bytes())),
            signer,
        }
    });
    &OURS
}

fn accepted(authorization: &[u8], dpop: &[&[u8]]) -> Option<mcp_auth::Accepted> {
    match check(
        &head(authorization, dpop),
        &ours().config,
        &ours().keys,
        NOW,
    ) {
        Decision::Accept(accepted) => Some(accepted),
        Decision::Refuse(refused) => {
            assert!(matches!(refused.reason.status(), 400 | 401));
            None
        }
        Decision::NeedKeys { .. } => panic!("keys that are fixed are not asked for"),
        Decision::Inquire(_) => panic!("no issuer is to be asked"),
    }
}

fn head<'a>(authorization: &'a [u8], dpop: &[&'a [u8]]) -> Head<'a> {
    Head {
        method: "POST",
        target: "/mcp",
        authorization: vec![authorization],
        dpop: dpop.to_vec(),
        certificate: None,
    }
}

/// A JWS of two lines, header and claims; `None` for anything else.
fn sign_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some(sign(&bytes[..end], &bytes[end + 1..]))
}

fn sign(header: &[u8], claims: &[u8]) -> Vec<u8> {
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let input = format!("{}.{}", encode(header), encode(claims));
    let signature = ours().signer.sign(input.as_bytes());
    format!("{input}.{}", encode(signature.as_ref())).into_bytes()
}

/// Whether what is signed of a token is in the fixture. Of a signature with ECDSA there are several.
fn is_recorded(token: &[u8]) -> bool {
    let text = str::from_utf8(token).expect("a token is ASCII");
    // The scheme may have more spaces behind it than one.
    let text = text.trim_start_matches(' ');
    let signed = text.rsplit_once('.').map_or(text, |(signed, _)| signed);
    RECORDED.contains(&format!("\"{signed}."))
}

fn printable(value: Option<&str>) -> Option<&str> {
    value.filter(|value| {
        !value.is_empty() && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    })
}

/// The parameters of a challenge (RFC 9110 §11.6.1), all of them quoted strings.
fn read_challenge(line: &str) -> Option<Vec<(String, String)>> {
    let (_scheme, mut rest) = line.split_once(' ')?;
    let mut parameters = Vec::new();
    loop {
        let (name, quoted) = rest.split_once("=\"")?;
        let (value, after) = read_quoted(quoted)?;
        parameters.push((name.to_owned(), value));
        if after.is_empty() {
            return Some(parameters);
        }
        rest = after.strip_prefix(", ")?;
    }
}

/// The value up to its closing quote, and what follows.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            ' '..='~' => value.push(character),
            _ => return None,
        }
    }
    None
}

const NOW: u64 = 1_800_000_000;
const LEEWAY_S: f64 = 30.0;
const RESOURCE: &str = "https://mcp.example.com/mcp";
const METADATA: &str = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const ISSUER: &str = "https://fuzz.example.com";
const TOKEN_HEADER: &str = r#"{"alg":"EdDSA","kid":"fuzz","typ":"at+jwt"}"#;
const BOUND_CLAIMS: &str = r#"{"aud":"https://mcp.example.com/mcp","client_id":"c","cnf":{"jkt":"JKT"},"exp":1800000600,"iat":1799999940,"iss":"https://fuzz.example.com","jti":"t","sub":"s"}"#;
const JWKS: &[u8] = include_bytes!("../../test/fixtures/auth/jwks.json");
const RECORDED: &str = include_str!("../../test/fixtures/auth/access-tokens.json");
