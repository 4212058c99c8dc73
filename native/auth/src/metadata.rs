//! Protected resource metadata (RFC 9728 §2, §3).

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::{
    config::{Config, Dpop},
    object::Object,
    resource::WELL_KNOWN,
    scope::Scope,
};

/// What people may read about the resource; each is left out of the document when there is none.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// `resource_name`
    pub name: Option<String>,
    /// `resource_documentation`
    pub documentation: Option<String>,
    /// `resource_policy_uri`
    pub policy_uri: Option<String>,
    /// `resource_tos_uri`
    pub tos_uri: Option<String>,
}

/// The metadata document, made once: it is the same for everybody.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where it is: path and query.
    pub target: String,
    /// JSON text.
    pub body: Vec<u8>,
    /// A strong entity tag of the body, with its quotation marks (RFC 9110 §8.8.3).
    pub etag: String,
}

impl Document {
    /// The document of a configuration.
    pub fn new(config: &Config) -> Self {
        let body = body(config);
        let mut etag = String::from("\"");
        for octet in &Sha256::digest(&body)[..8] {
            write!(etag, "{octet:02x}").expect("a string takes what is written to it");
        }
        etag.push('"');
        Self {
            target: config.resource().metadata_target(),
            body,
            etag,
        }
    }

    /// Whether a request for `target` means this document. The root form is what clients try that were not told where
    /// it is.
    pub fn is_at(&self, target: &str, serves_root: bool) -> bool {
        target == self.target || (serves_root && target == WELL_KNOWN)
    }
}

fn body(config: &Config) -> Vec<u8> {
    let settings = config.settings();
    let mut object = Object::default();
    object.string("resource", config.resource().as_str());
    let issuers = config.issuers().iter().map(|issuer| &*issuer.issuer);
    object.strings("authorization_servers", issuers);
    if !settings.scopes_supported.is_empty() {
        let scopes = settings.scopes_supported.iter().map(Scope::as_str);
        object.strings("scopes_supported", scopes);
    }
    object.strings("bearer_methods_supported", ["header"].into_iter());
    let links = &settings.links;
    for (name, link) in [
        ("resource_name", &links.name),
        ("resource_documentation", &links.documentation),
        ("resource_policy_uri", &links.policy_uri),
        ("resource_tos_uri", &links.tos_uri),
    ] {
        if let Some(link) = link {
            object.string(name, link);
        }
    }
    if settings.dpop != Dpop::Off {
        let algorithms = config.dpop_alg_names();
        object.strings("dpop_signing_alg_values_supported", algorithms.into_iter());
        let required = settings.dpop == Dpop::Required;
        object.boolean("dpop_bound_access_tokens_required", required);
    }
    if settings.mtls {
        object.boolean("tls_client_certificate_bound_access_tokens", true);
    }
    object.end()
}
