//! `initialize`, the legacy handshake (MCP 2025-11-25 basic/lifecycle).

use mcp_json::{Kind, Node};

use crate::{
    catalog::Catalog,
    change::Uris,
    config::Config,
    encode::Members,
    error::{Code, Error},
    meta::is_implementation,
    methods::capabilities::capabilities,
    principal::Principal,
    revision::{Era, Revision},
    session::Session,
    word,
};

/// What a session keeps of its client, in bytes: it is decoded for each call, and sessions are many.
pub(crate) const MAX_CLIENT_BYTES: usize = 16_384;

/// Reads the parameters and settles the session that they ask for.
///
/// A served legacy version is agreed to; anything else, 2026-07-28 included, is answered with the newest legacy one.
pub(crate) fn open(
    params: Option<Node<'_>>,
    principal: Option<Principal>,
) -> Result<Session, Error> {
    let member = |name: &str| params.and_then(|params| params.get(name));
    let requested = member("protocolVersion")
        .and_then(Node::as_str)
        .ok_or_else(|| invalid("initialize needs the string \"protocolVersion\""))?;
    let capabilities = member("capabilities")
        .filter(|node| node.kind() == Kind::Object)
        .ok_or_else(|| invalid("initialize needs the object \"capabilities\""))?;
    let client_info = member("clientInfo")
        .filter(|node| is_implementation(*node))
        .ok_or_else(|| {
            invalid("initialize needs \"clientInfo\" with the strings \"name\" and \"version\"")
        })?;
    let described = client_info.raw().len() + capabilities.raw().len();
    if described > MAX_CLIENT_BYTES {
        return Err(Error::new(
            Code::InvalidParams,
            word::PARAMS,
            format!(
                "\"clientInfo\" and \"capabilities\" take {described} bytes together: at most {MAX_CLIENT_BYTES} are kept"
            ),
        ));
    }
    Ok(Session {
        revision: Revision::parse(&requested)
            .filter(|revision| revision.era() == Era::Legacy)
            .unwrap_or(Revision::NEWEST_LEGACY),
        client_info: client_info.raw().into(),
        client_capabilities: capabilities.raw().into(),
        principal,
        log_level: None,
        subscriptions: Uris::default(),
    })
}

/// Writes the members of an initialize result.
pub(crate) fn write(
    result: &mut Members<'_>,
    config: &Config,
    catalog: &Catalog,
    revision: Revision,
) {
    result
        .string("protocolVersion", revision.as_str())
        .raw("capabilities", capabilities(config, catalog, revision))
        .raw(
            "serverInfo",
            config.server_info[revision.index()].as_bytes(),
        );
    if let Some(instructions) = &config.instructions {
        result.string("instructions", instructions);
    }
}

fn invalid(message: &'static str) -> Error {
    Error::new(Code::InvalidParams, word::PARAMS, message)
}
