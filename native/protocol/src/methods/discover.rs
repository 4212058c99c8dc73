//! `server/discover` (MCP 2026-07-28 server/discover).

use mcp_json::write;

use crate::{
    catalog::Catalog, config::Config, encode::Members, methods::capabilities::capabilities,
    revision::Revision,
};

/// Writes the members of a discover result.
pub(crate) fn write(
    result: &mut Members<'_>,
    config: &Config,
    catalog: &Catalog,
    revision: Revision,
) {
    let versions: Vec<String> = Revision::ALL.map(quoted).into();
    result
        .array("supportedVersions", versions.iter().map(String::as_str))
        .raw("capabilities", capabilities(config, catalog, revision));
    if let Some(instructions) = &config.instructions {
        result.string("instructions", instructions);
    }
    config.cache.discover.write(result, config, revision);
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
