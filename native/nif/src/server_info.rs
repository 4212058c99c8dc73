//! The server's `Implementation`, as each revision knows it.

use mcp_protocol::Revision;
use rustler::Term;
use serde_json::{Map, Value};

use crate::{definition, fault::Fault, options};

/// The JSON text for every revision, by [`Revision::index`].
///
/// MCP 2025-06-18 has name, title and version; 2025-11-25 adds the rest.
pub(crate) fn read(term: Term<'_>) -> Result<[Box<str>; 3], Fault> {
    let Value::Object(full) = definition::json_value(term)? else {
        return Err(options::wrong(crate::atoms::server_info(), "not a map"));
    };
    Ok([
        Revision::R20250618,
        Revision::R20251125,
        Revision::R20260728,
    ]
    .map(|revision| {
        let known = |key: &str| revision > Revision::R20250618 || EARLIEST.contains(&key);
        let entries = full.iter().filter(|(key, _)| known(key));
        let kept: Map<String, Value> = entries
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Value::Object(kept).to_string().into()
    }))
}

const EARLIEST: [&str; 3] = ["name", "title", "version"];
