//! What a host configures, checked before it gets here. Immutable once built.

use std::sync::Arc;

use mcp_auth::{Gates, Hierarchy};

use crate::{
    cache::{CacheHint, CacheHints, CacheScope},
    catalog::Catalog,
    log_level::LogLevel,
    method::Method,
    methods::capabilities::offers,
    rates::Rates,
};

/// Settings of one instance that concern the protocol.
#[derive(Clone, Debug)]
pub struct Config {
    /// `Implementation` of the server as JSON text, one for each revision by [`crate::Revision::index`].
    pub server_info: [Box<str>; 3],
    /// `instructions` of discover and initialize results.
    pub instructions: Option<String>,
    /// Definitions on one page of a list.
    pub page_size: usize,
    /// Whether the catalog depends on the caller, so that it is asked for on each request.
    pub caller_catalog: bool,
    /// Bounds of a message.
    pub json: mcp_json::Limits,
    /// Bounds of schemas.
    pub schema: mcp_schema::Limits,
    /// How long a call may run.
    pub call_timeout_ms: u64,
    /// How long `authorize`, `authorize_body`, a session store or `capabilities/1` may take.
    pub hook_timeout_ms: u64,
    /// How long a call may run before its HTTP response begins, as an event stream (D17).
    pub stream_after_ms: u64,
    /// How long a client may take from one round of input to the next (MCP 2026-07-28 basic/patterns/mrtr).
    pub request_state_ttl_ms: u64,
    /// From which level on a legacy client reads log messages that did not set one (LOG-7).
    pub log_level: LogLevel,
    /// The largest encoded result.
    pub max_result_bytes: usize,
    /// Lower-case names of the request headers that handlers may see.
    pub context_headers: Vec<String>,
    /// How long clients may keep which answers (MCP 2026-07-28 server/utilities/caching).
    pub cache: CacheHints,
    /// Whether an answer may be told as public at all. It never is when the catalog depends on the caller (CACHE-7).
    pub allow_public_cache: bool,
    /// How often one caller may do what.
    pub rates: Rates,
    /// Which scopes methods need.
    pub scopes: ScopePolicy,
    /// Whether somebody keeps records of decisions over callers.
    pub tells_decisions: bool,
    /// Whether the host completes arguments that no definition completes.
    pub completes: bool,
    /// Whether other nodes serve the same legacy sessions, so that a message may be for a call of theirs.
    pub shared_sessions: bool,
    /// Whether the store may hold tasks although no tool has them now, so that the extension is served all the same.
    pub keeps_tasks: bool,
}

/// Which scopes methods need, and which scopes stand for others.
#[derive(Clone, Debug, Default)]
pub struct ScopePolicy {
    /// What each method needs.
    pub gates: Gates,
    /// What a scope stands for beside itself.
    pub hierarchy: Hierarchy,
    /// Whether lists leave out what a caller lacks scopes for, also where it would be told so.
    pub hide_unauthorized: bool,
    /// Whether the host decides over each definition once scopes suffice.
    pub authorizes_definitions: bool,
    /// Whether the host says which sign-in a definition takes.
    pub steps_up: bool,
}

impl Config {
    /// The scope that an answer is told with: public by the host's explicit choice alone, and only where no answer
    /// depends on the caller.
    pub(crate) fn told_scope(&self, hint: CacheHint) -> CacheScope {
        let by_caller = self.caller_catalog || self.scopes.authorizes_definitions;
        match hint.scope {
            CacheScope::Public if self.allow_public_cache && !by_caller => CacheScope::Public,
            _ => CacheScope::Private,
        }
    }
}

/// Settings of one HTTP endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The endpoint's path; the same path with a slash at its end is served too.
    pub path: String,
    /// Which browser origins may call.
    pub allowed_origins: Origins,
    /// Which `Host` values are served.
    pub allowed_hosts: Hosts,
    /// Which of the host's hooks are asked: given back with each question to them, unread.
    pub hook: u64,
    /// Whether the host's `authorize` hook is asked before the body is read.
    pub authorize: bool,
    /// Whether access tokens are checked before the body is read, in place of that hook.
    pub guarded: bool,
    /// Whether the host's `authorize_body` hook is asked before the body is decoded.
    pub authorize_body: bool,
    /// The largest body.
    pub max_body_bytes: usize,
    /// Whether the endpoint is reached over TLS, for telling the endpoint's own origin.
    pub secure: bool,
}

/// The `allowed_origins` option.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origins {
    /// Any origin; the host chose it in so many words.
    Any,
    /// These, compared as serialised origins (RFC 6454 §6.2), lower case.
    List(Vec<String>),
}

/// The `allowed_hosts` option.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Hosts {
    /// Any `Host`: a public bind without a list.
    Any,
    /// `localhost`, `127.0.0.0/8` and `[::1]` with any port: a loopback bind without a list.
    Loopback,
    /// These, lower case, with a port or for any port.
    List(Vec<String>),
}

/// All that exchanges share: built once, swapped whole.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The instance's settings.
    pub config: Arc<Config>,
    /// The definitions in force.
    pub catalog: Arc<Catalog>,
    /// Keys derived from the instance's secrets.
    pub keys: Arc<crate::keys::Keys>,
}

impl Shared {
    /// The same with another catalog. Tasks outlive the tools that began them: after a catalog that has such tools,
    /// clients may ask for some.
    #[must_use]
    pub fn with_catalog(&self, catalog: Arc<Catalog>) -> Self {
        let config = match self.config.keeps_tasks || !self.catalog.has_tasks() {
            true => Arc::clone(&self.config),
            false => Arc::new(Config {
                keeps_tasks: true,
                ..(*self.config).clone()
            }),
        };
        Self {
            config,
            catalog,
            keys: Arc::clone(&self.keys),
        }
    }

    /// Whether a method, by its wire name, can be used now.
    pub fn offers(&self, method: &str) -> bool {
        let feature = Method::parse(method).map(Method::feature);
        feature.is_some_and(|feature| {
            feature.is_none_or(|feature| offers(feature, &self.config, &self.catalog))
        })
    }
}
