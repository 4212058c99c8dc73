//! What a host configures, checked once.

use std::{error, fmt};

use crate::{
    algorithm::Algorithm,
    introspection::Introspection,
    metadata::Links,
    nonce::Nonces,
    resource::{Resource, ResourceError},
    scope::Scope,
};

/// What [`Config::new`] checks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The public URL of the endpoint.
    pub resource: String,
    /// Who issues tokens for it, 1 to 8.
    pub issuers: Vec<Issuer>,
    /// What `aud` may name.
    pub audiences: Vec<String>,
    /// How many of a token's audiences must be known.
    pub aud_mode: AudienceMode,
    /// What `typ` of a token may be; an empty one stands for none.
    pub accept_typ: Vec<String>,
    /// How far clocks may differ.
    pub leeway_s: u32,
    /// How old a token may be.
    pub max_token_age_s: Option<u64>,
    /// Claims that a token must have. `client_id` stands for any claim that an issuer keeps it in.
    pub required_claims: Vec<String>,
    /// The largest token.
    pub max_token_bytes: usize,
    /// The shortest RSA key.
    pub min_rsa_bits: usize,
    /// Whether proofs are read.
    pub dpop: Dpop,
    /// The algorithms of proofs.
    pub dpop_algs: Vec<Algorithm>,
    /// What makes nonces, where proofs must have one.
    pub nonces: Option<Nonces>,
    /// Whether certificates are looked at.
    pub mtls: bool,
    /// What the metadata document says of scopes.
    pub scopes_supported: Vec<Scope>,
    /// What it says for people.
    pub links: Links,
}

/// One authorization server.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// The identifier, as its tokens spell it.
    pub issuer: String,
    /// The algorithms of its tokens.
    pub algs: Vec<Algorithm>,
    /// Where the client's id is; the first that is there counts.
    pub client_id_claims: Vec<String>,
    /// Where scopes are; all count.
    pub scope_claims: Vec<String>,
    /// How it is asked about its tokens, where their signatures do not count. One of the issuers at most.
    pub introspection: Option<Introspection>,
}

/// How many of a token's audiences must be known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AudienceMode {
    /// One.
    Any,
    /// Every one.
    All,
}

/// Whether proofs are read (RFC 9449).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dpop {
    /// The scheme is unknown here.
    Off,
    /// Who binds tokens proves it.
    Optional,
    /// Every token is bound.
    Required,
}

/// A configuration that holds together.
#[derive(Clone, Debug)]
pub struct Config {
    settings: Settings,
    resource: Resource,
}

/// Which setting is wrong, and how.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError {
    /// The setting, one of an issuer with the issuer's place.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
}

impl Settings {
    /// The defaults for a resource.
    pub fn new(resource: &str, issuers: Vec<Issuer>) -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            resource: resource.to_owned(),
            issuers,
            audiences: vec![resource.to_owned()],
            aud_mode: AudienceMode::Any,
            accept_typ: words(&["at+jwt"]),
            leeway_s: 30,
            max_token_age_s: None,
            required_claims: words(&["iss", "aud", "exp", "iat", "sub", "client_id", "jti"]),
            max_token_bytes: 16_384,
            min_rsa_bits: 2_048,
            dpop: Dpop::Optional,
            dpop_algs: Algorithm::defaults(),
            nonces: None,
            mtls: false,
            scopes_supported: Vec::new(),
            links: Links::default(),
        }
    }
}

impl Issuer {
    /// The defaults for an issuer that follows RFC 9068.
    pub fn new(issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            algs: Algorithm::defaults(),
            client_id_claims: vec!["client_id".to_owned()],
            scope_claims: vec!["scope".to_owned()],
            introspection: None,
        }
    }

    pub(crate) fn algorithms(&self) -> &[Algorithm] {
        &self.algs
    }
}

impl Config {
    /// Checks the settings against each other and against the standards.
    ///
    /// # Errors
    /// The first setting that is wrong.
    pub fn new(settings: Settings) -> Result<Self, ConfigError> {
        let resource = Resource::parse(&settings.resource)
            .map_err(|error| wrong_resource(&settings.resource, error))?;
        check_issuers(&settings.issuers)?;
        if settings.audiences.is_empty() {
            return Err(wrong("audiences", "name at least one audience"));
        }
        for claim in ["iss", "aud", "exp", "sub"] {
            if !settings.required_claims.iter().any(|name| name == claim) {
                let message = format!("{claim:?} cannot be left out");
                return Err(wrong("required_claims", message));
            }
        }
        if settings.dpop != Dpop::Off && settings.dpop_algs.is_empty() {
            return Err(wrong("dpop_algs", "name at least one algorithm"));
        }
        let mut scopes = settings.scopes_supported.iter();
        if scopes.any(|scope| scope.as_str() == "offline_access") {
            return Err(wrong(
                "scopes_supported",
                "\"offline_access\" is between client and authorization server: leave it out",
            ));
        }
        Ok(Self { settings, resource })
    }

    /// The settings as they are in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The resource that is protected.
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Who issues tokens.
    pub fn issuers(&self) -> &[Issuer] {
        &self.settings.issuers
    }

    pub(crate) fn issuer(&self, index: usize) -> &Issuer {
        &self.settings.issuers[index]
    }

    pub(crate) fn dpop_alg_names(&self) -> Vec<&'static str> {
        let algorithms = self.settings.dpop_algs.iter();
        algorithms.map(|algorithm| algorithm.name()).collect()
    }
}

fn check_issuers(issuers: &[Issuer]) -> Result<(), ConfigError> {
    if !(1..=MAX_ISSUERS).contains(&issuers.len()) {
        let message = format!("name 1 to {MAX_ISSUERS} issuers");
        return Err(wrong("issuers", message));
    }
    for (index, issuer) in issuers.iter().enumerate() {
        let place = |setting| format!("issuers[{index}].{setting}");
        if issuer.algs.is_empty() {
            return Err(wrong(place("algs"), "name at least one algorithm"));
        }
        Resource::parse(&issuer.issuer).map_err(|error| {
            let message = format!("{:?} is no issuer: {error}", issuer.issuer);
            wrong(place("issuer"), message)
        })?;
        let mut before = issuers[..index].iter();
        if before.any(|other| other.issuer == issuer.issuer) {
            let message = format!("{:?} is named twice", issuer.issuer);
            return Err(wrong(place("issuer"), message));
        }
    }
    let introspected = issuers
        .iter()
        .filter(|issuer| issuer.introspection.is_some());
    if introspected.count() > 1 {
        let message = "an opaque token does not say whose it is: ask one issuer about its tokens, not several";
        return Err(wrong("issuers", message));
    }
    Ok(())
}

fn wrong_resource(resource: &str, error: ResourceError) -> ConfigError {
    wrong("resource", format!("{resource:?} is no resource: {error}"))
}

fn wrong(key: impl Into<String>, message: impl Into<String>) -> ConfigError {
    ConfigError {
        key: key.into(),
        message: message.into(),
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.key, self.message)
    }
}

impl error::Error for ConfigError {}

const MAX_ISSUERS: usize = 8;
