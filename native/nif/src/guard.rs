//! What checks access tokens, as a term: made of options before any listener starts.

use std::sync::Arc;

use mcp_auth::{
    Algorithm, AudienceMode, Client, Config, Dpop, Introspection, Issuer, KeySet, KeySource, Keys,
    Links, Nonces, Refetch, Scope, Secret, Settings,
};
use mcp_http::{CertificateSource, Guard, GuardOptions, Introspector, Networks};
use mcp_protocol::Rate;
use rustler::{Atom, Binary, Encoder, Env, Resource, ResourceArc, Term, types::atom};

use crate::{atoms, client_key::ClientKeyHandle, fault::Fault, options::Options, tls::TrustHandle};

/// A guard as a term.
pub(crate) struct GuardHandle(Arc<Guard>);

impl GuardHandle {
    pub(crate) fn guard(&self) -> Arc<Guard> {
        Arc::clone(&self.0)
    }
}

#[rustler::resource_impl]
impl Resource for GuardHandle {}

/// `guard_new/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn guard_new<'a>(env: Env<'a>, options: Term<'a>) -> Term<'a> {
    match guard(Options(options)) {
        Ok(guard) => (atom::ok(), ResourceArc::new(GuardHandle(Arc::new(guard)))).encode(env),
        Err(fault) => fault.encode(env),
    }
}

/// `guard_keys/3`: takes the newer keys of an issuer as JSON text, or `nil` for none. Returns how many there are.
#[rustler::nif(schedule = "DirtyCpu")]
fn guard_keys<'a>(
    env: Env<'a>,
    guard: &'a GuardHandle,
    issuer: usize,
    jwks: Option<Binary<'a>>,
) -> Term<'a> {
    let set = match jwks.map(|jwks| KeySet::parse(&jwks)).transpose() {
        Ok(set) => set.map(Arc::new),
        Err(error) => return wrong(error).encode(env),
    };
    let count = set.as_ref().map_or(0, |set| set.len());
    guard.0.set_keys(issuer, set);
    (atom::ok(), count).encode(env)
}

fn guard(options: Options<'_>) -> Result<Guard, Fault> {
    let issuers: Vec<Term<'_>> = options.get(atoms::issuers())?;
    let issuers: Vec<Options<'_>> = issuers.into_iter().map(Options).collect();
    let sources = issuers.iter().enumerate();
    let sources = sources.map(|(index, issuer)| key_source(*issuer, index));
    let keys = Keys {
        sources: sources.collect::<Result<_, _>>()?,
    };
    let settings = settings(options, &issuers)?;
    Ok(Guard::new(GuardOptions {
        config: Arc::new(Config::new(settings).map_err(wrong)?),
        keys,
        introspector: introspector(&issuers)?,
        certificates: certificates(options)?,
        serves_root: options.get(atoms::serve_root_metadata())?,
        failures: Rate {
            count: options.get(atoms::auth_failures_per_minute())?,
            per_ms: 60_000,
        },
        settles: options.get(atoms::settles())?,
        now_s: options.get(atoms::now_s())?,
    }))
}

fn settings(options: Options<'_>, issuers: &[Options<'_>]) -> Result<Settings, Fault> {
    let resource: &str = options.get(atoms::resource())?;
    let issuers = issuers.iter().enumerate();
    let issuers = issuers.map(|(index, options)| issuer(*options, index));
    Ok(Settings {
        audiences: options.get(atoms::audiences())?,
        aud_mode: match options.get::<Atom>(atoms::aud_mode())? == atoms::all() {
            true => AudienceMode::All,
            false => AudienceMode::Any,
        },
        accept_typ: options.get(atoms::accept_typ())?,
        leeway_s: options.get(atoms::leeway_s())?,
        max_token_age_s: options.get(atoms::max_token_age_s())?,
        required_claims: options.get(atoms::required_claims())?,
        max_token_bytes: options.get(atoms::max_token_bytes())?,
        dpop: dpop(options.get(atoms::dpop())?),
        dpop_algs: algorithms(options.get(atoms::dpop_algs())?, "dpop_algs")?,
        nonces: nonces(options)?,
        mtls: certificates(options)? != CertificateSource::None,
        scopes_supported: scopes(options)?,
        links: Links {
            name: options.get(atoms::resource_name())?,
            documentation: options.get(atoms::resource_documentation())?,
            policy_uri: options.get(atoms::resource_policy_uri())?,
            tos_uri: options.get(atoms::resource_tos_uri())?,
        },
        ..Settings::new(resource, issuers.collect::<Result<_, _>>()?)
    })
}

fn issuer(options: Options<'_>, index: usize) -> Result<Issuer, Fault> {
    let algs = format!("issuers[{index}].algs");
    Ok(Issuer {
        issuer: options.get(atoms::issuer())?,
        algs: algorithms(options.get(atoms::algs())?, &algs)?,
        client_id_claims: options.get(atoms::client_id_claims())?,
        scope_claims: options.get(atoms::scope_claims())?,
        introspection: match introspection(options)? {
            Some(introspection) => Some(Introspection {
                allow_unbounded: introspection.get(atoms::allow_unbounded_introspection())?,
            }),
            None => None,
        },
    })
}

/// How an issuer is asked about tokens, if it is.
fn introspection(issuer: Options<'_>) -> Result<Option<Options<'_>>, Fault> {
    let options: Term<'_> = issuer.get(atoms::introspection())?;
    Ok((atom::nil() != options).then_some(Options(options)))
}

/// Of several issuers that are asked the first; the configuration refuses more than one.
fn introspector(issuers: &[Options<'_>]) -> Result<Option<Introspector>, Fault> {
    for (index, issuer) in issuers.iter().enumerate() {
        if let Some(options) = introspection(*issuer)? {
            return Ok(Some(Introspector {
                issuer: index,
                url: options.get(atoms::url())?,
                allow_private: issuer.get(atoms::allow_private_issuer())?,
                trust: issuer
                    .get::<Option<&TrustHandle>>(atoms::trust())?
                    .map(TrustHandle::trust),
                client: client(options)?,
            }));
        }
    }
    Ok(None)
}

/// As whom an issuer is asked: with a key, or else with a secret.
fn client(options: Options<'_>) -> Result<Client, Fault> {
    let id = options.get(atoms::client_id())?;
    let key: Option<&ClientKeyHandle> = options.get(atoms::client_key())?;
    if let Some(key) = key {
        let audience = options.get(atoms::assertion_audience())?;
        return Ok(Client::with_key(id, key.key(), audience));
    }
    let secret: Binary<'_> = options.get(atoms::client_secret())?;
    Ok(Client::with_secret(id, &Secret::new(secret.to_vec())))
}

/// The configured keys of an issuer, or none yet when they are to be fetched.
fn key_source(issuer: Options<'_>, index: usize) -> Result<KeySource, Fault> {
    let jwks: Option<Binary<'_>> = issuer.get(atoms::jwks())?;
    let set = jwks.map(|jwks| KeySet::parse(&jwks)).transpose();
    let set = set.map_err(|error| {
        let place = format!("issuers[{index}].keys");
        wrong(format!("{place}: this is no key set: {error}"))
    })?;
    Ok(KeySource {
        refetch: match set {
            Some(_) => Refetch::Done,
            None => Refetch::Possible,
        },
        set: set.map(Arc::new),
    })
}

fn algorithms(names: Vec<&str>, place: &str) -> Result<Vec<Algorithm>, Fault> {
    let parse = |name: &str| {
        Algorithm::parse(name).ok_or_else(|| {
            let known: Vec<_> = Algorithm::all().map(Algorithm::name).collect();
            let known = known.join(", ");
            wrong(format!("{place}: {name:?} is none of {known}"))
        })
    };
    names.into_iter().map(parse).collect()
}

fn nonces(options: Options<'_>) -> Result<Option<Nonces>, Fault> {
    let secrets: Vec<Binary<'_>> = options.get(atoms::dpop_nonce_secrets())?;
    let secrets = secrets.iter().map(|secret| Secret::new(secret.to_vec()));
    let secrets: Vec<_> = secrets.collect();
    Ok((!secrets.is_empty()).then(|| Nonces::new(secrets)))
}

/// `nil | {:tls} | {:trusted_proxy, networks, header}`
fn certificates(options: Options<'_>) -> Result<CertificateSource, Fault> {
    let mtls: Term<'_> = options.get(atoms::mtls())?;
    if let Ok((kind, networks, header)) = mtls.decode::<(Atom, Vec<&str>, String)>()
        && kind == atoms::trusted_proxy()
    {
        let peers = Networks::parse(networks).map_err(|text| {
            wrong(format!(
                "mtls: {text:?} is no network such as \"10.0.0.0/8\""
            ))
        })?;
        return Ok(CertificateSource::Proxy { peers, header });
    }
    Ok(match atom::nil() == mtls {
        true => CertificateSource::None,
        false => CertificateSource::Tls,
    })
}

fn scopes(options: Options<'_>) -> Result<Vec<Scope>, Fault> {
    let names: Vec<&str> = options.get(atoms::scopes_supported())?;
    let parse = |name: &str| {
        Scope::parse(name).ok_or_else(|| wrong(format!("scopes_supported: {name:?} is no scope")))
    };
    names.into_iter().map(parse).collect()
}

fn dpop(atom: Atom) -> Dpop {
    if atom == atoms::off() {
        return Dpop::Off;
    }
    match atom == atoms::required() {
        true => Dpop::Required,
        false => Dpop::Optional,
    }
}

/// Begins with the key that is wrong.
fn wrong(error: impl ToString) -> Fault {
    Fault::new(atoms::config(), error.to_string())
}
