//! `tools/list` (MCP server/tools, server/utilities/pagination).

use mcp_json::Node;

use crate::{
    catalog::Catalog,
    config::{Config, Shared},
    cursor::Cursor,
    encode::Members,
    error::{Code, Error},
    methods::discover::write_cache_hint,
    revision::{Era, Revision},
    word,
};

const LIST: &str = "tools";

/// Which page is asked for.
pub(crate) fn position(
    params: Option<Node<'_>>,
    shared: &Shared,
    catalog: &Catalog,
) -> Result<usize, Error> {
    let Some(cursor) = params.and_then(|params| params.get("cursor")) else {
        return Ok(0);
    };
    let text = cursor
        .as_str()
        .ok_or_else(|| invalid("The member \"params.cursor\" must be a string"))?;
    Cursor::parse(&text, &shared.keys, LIST, catalog.digest())
        .map(|cursor| cursor.position as usize)
        .ok_or_else(|| {
            invalid("The cursor is not one of this list as it is now: list again without a cursor")
        })
}

/// Writes the members of a page.
pub(crate) fn write(
    result: &mut Members<'_>,
    shared: &Shared,
    catalog: &Catalog,
    revision: Revision,
    position: usize,
) {
    let config: &Config = &shared.config;
    result.array("tools", catalog.page(revision, position, config.page_size));
    let next = position + config.page_size;
    if next < catalog.len() {
        let cursor = Cursor::new(next as u32, catalog.digest());
        result.string("nextCursor", &cursor.encode(&shared.keys, LIST));
    }
    if revision.era() == Era::Modern {
        write_cache_hint(result, config);
    }
}

fn invalid(message: &'static str) -> Error {
    Error::new(Code::InvalidParams, word::CURSOR, message)
}
