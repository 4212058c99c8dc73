//! `server/discover` (MCP 2026-07-28 server/discover) and the capabilities that it shares with `initialize`.

use mcp_json::write;

use crate::{catalog::Catalog, config::Config, encode::Members, revision::Revision};

/// Who may reuse a cached answer: only the same caller, unless a host says otherwise (CACHE-7).
const CACHE_SCOPE: &str = "private";

/// Writes the members of a discover result.
pub(crate) fn write(result: &mut Members<'_>, config: &Config, catalog: &Catalog) {
    let versions: Vec<String> = Revision::ALL.map(quoted).into();
    result
        .array("supportedVersions", versions.iter().map(String::as_str))
        .raw("capabilities", capabilities(config, catalog));
    if let Some(instructions) = &config.instructions {
        result.string("instructions", instructions);
    }
    write_cache_hint(result, config);
}

/// The server's capabilities: just what this catalog can serve (DISC-5).
pub(crate) fn capabilities(config: &Config, catalog: &Catalog) -> &'static str {
    if offers_tools(config, catalog) {
        r#"{"tools":{}}"#
    } else {
        "{}"
    }
}

/// Whether `tools/*` is served: some tool exists, or the caller decides which do.
pub(crate) fn offers_tools(config: &Config, catalog: &Catalog) -> bool {
    config.caller_catalog || !catalog.is_empty()
}

/// How long an answer stays fresh, and for whom (MCP 2026-07-28 server/utilities/caching).
pub(crate) fn write_cache_hint(result: &mut Members<'_>, config: &Config) {
    result
        .integer("ttlMs", config.cache_ttl_ms as i64)
        .string("cacheScope", CACHE_SCOPE);
}

/// `{"supported":[..],"requested":".."}`, the data of an unsupported-version error.
pub(crate) fn unsupported_version_data(requested: &str) -> String {
    let versions: Vec<String> = Revision::ALL.map(quoted).into();
    let mut out = Vec::new();
    let mut data = Members::open(&mut out);
    data.array("supported", versions.iter().map(String::as_str))
        .string("requested", requested);
    data.close();
    String::from_utf8(out).expect("members are written as UTF-8")
}

fn quoted(revision: Revision) -> String {
    let mut out = Vec::new();
    write::string(&mut out, revision.as_str());
    String::from_utf8(out).expect("a revision is ASCII")
}
