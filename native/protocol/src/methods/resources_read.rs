//! `resources/read`: its parameters and its results (MCP server/resources).

use std::sync::Arc;

use crate::{
    cache::CacheChoice,
    call::{Reading, Source},
    catalog::{Catalog, Listed, MAX_URI_BYTES},
    config::Config,
    encode::Members,
    error::{Code, Error},
    excerpt::excerpt,
    methods::params::Params,
    outcome::{Body, Contents, Piece},
    revision::{Era, Revision},
    word,
};

/// The resource that `params` names: listed itself, or else of the first template that matches (RES-15).
pub(crate) fn read(
    params: Params<'_>,
    catalog: &Catalog,
    revision: Revision,
) -> Result<Reading, Error> {
    let uri = params.string("uri")?;
    if let Some(resource) = catalog.resource(&uri) {
        return Ok(Reading {
            uri: Arc::clone(&resource.uri),
            source: Source::Resource(Arc::clone(resource)),
            variables: Vec::new(),
        });
    }
    match catalog.matching_template(&uri) {
        Some((template, variables)) => Ok(Reading {
            uri: uri.into(),
            source: Source::Template(Arc::clone(template)),
            variables,
        }),
        None => Err(not_found(&uri, revision)),
    }
}

/// There is no such resource: -32602, and -32002 for legacy clients; both name it (RES-6), unless it is longer than a
/// URI can be.
pub(crate) fn not_found(uri: &str, revision: Revision) -> Error {
    let code = match revision.era() {
        Era::Modern => Code::InvalidParams,
        Era::Legacy => Code::ResourceNotFound,
    };
    let message = format!("Resource not found: {}", excerpt(uri.as_bytes()));
    let error = Error::new(code, word::NOT_FOUND, message);
    if uri.len() > MAX_URI_BYTES {
        return error;
    }
    let mut out = Vec::new();
    let mut data = Members::open(&mut out);
    data.string("uri", uri);
    data.close();
    error.with_data(String::from_utf8(out).expect("members are written as UTF-8"))
}

/// Writes the members of a result.
pub(crate) fn write(
    result: &mut Members<'_>,
    contents: &Contents,
    reading: &Reading,
    config: &Config,
    revision: Revision,
) {
    result.objects("contents", &contents.pieces, |members, piece| {
        write_piece(members, piece, reading);
    });
    let hint = config.cache.contents.chosen(reading.cache());
    let hint = hint.chosen(contents.cache);
    hint.kept_from_others(reading.access().is_open())
        .write(result, config, revision);
}

fn write_piece(members: &mut Members<'_>, piece: &Piece, reading: &Reading) {
    members.string("uri", piece.uri.as_deref().unwrap_or(&reading.uri));
    if let Some(mime_type) = piece.mime_type.as_deref().or(reading.mime_type()) {
        members.string("mimeType", mime_type);
    }
    match &piece.body {
        Body::Text(json) => members.raw("text", json),
        Body::Blob(json) => members.raw("blob", json),
    };
    if let Some(meta) = &piece.meta {
        members.raw("_meta", meta);
    }
}

impl Reading {
    fn mime_type(&self) -> Option<&str> {
        match &self.source {
            Source::Resource(resource) => resource.mime_type.as_deref(),
            Source::Template(template) => template.mime_type.as_deref(),
        }
    }

    fn access(&self) -> &mcp_auth::Definition {
        match &self.source {
            Source::Resource(resource) => resource.access(),
            Source::Template(template) => template.access(),
        }
    }

    fn cache(&self) -> CacheChoice {
        match &self.source {
            Source::Resource(resource) => resource.cache,
            Source::Template(template) => template.cache,
        }
    }
}
