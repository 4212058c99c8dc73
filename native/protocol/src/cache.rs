//! How long a client may keep an answer, and who may share it (MCP 2026-07-28 server/utilities/caching).

use crate::{
    config::Config,
    encode::Members,
    revision::{Era, Revision},
};

/// Who a kept answer may serve.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CacheScope {
    /// Anybody: the answer does not depend on who asked.
    Public,
    /// Whoever asked alone.
    #[default]
    Private,
}

/// `ttlMs` and `cacheScope` of an answer; by default stale at once and for one caller (CACHE-7).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CacheHint {
    /// For how many milliseconds the answer is fresh.
    pub ttl_ms: u64,
    /// Whom it may serve. A public one is told as private where answers may depend on the caller: see
    /// [`Config::allow_public_cache`](crate::Config::allow_public_cache).
    pub scope: CacheScope,
}

/// What a definition or a handler says of one answer; what it leaves open is the category's.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CacheChoice {
    /// See [`CacheHint::ttl_ms`].
    pub ttl_ms: Option<u64>,
    /// See [`CacheHint::scope`].
    pub scope: Option<CacheScope>,
}

/// The hint of each category of answers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CacheHints {
    /// `server/discover`
    pub discover: CacheHint,
    /// `tools/list`
    pub tools: CacheHint,
    /// `resources/list` and `resources/templates/list`
    pub resources: CacheHint,
    /// `prompts/list`
    pub prompts: CacheHint,
    /// `resources/read`
    pub contents: CacheHint,
}

impl CacheScope {
    /// The wire text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

impl CacheHint {
    /// The hint with what `choice` says in its place.
    #[must_use]
    pub(crate) fn chosen(self, choice: CacheChoice) -> Self {
        Self {
            ttl_ms: choice.ttl_ms.unwrap_or(self.ttl_ms),
            scope: choice.scope.unwrap_or(self.scope),
        }
    }

    /// The hint of an answer that not everybody may have, unless it `is_open`.
    #[must_use]
    pub(crate) fn kept_from_others(self, is_open: bool) -> Self {
        match is_open {
            true => self,
            false => Self {
                scope: CacheScope::Private,
                ..self
            },
        }
    }

    /// Writes the two members of a result; legacy results have neither (RPC-8).
    pub(crate) fn write(self, result: &mut Members<'_>, config: &Config, revision: Revision) {
        if revision.era() == Era::Modern {
            result
                .integer("ttlMs", self.ttl_ms as i64)
                .string("cacheScope", config.told_scope(self).as_str());
        }
    }
}
