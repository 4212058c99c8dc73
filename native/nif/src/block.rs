//! Content blocks as hosts make them: maps with atom or string keys, checked for what their type needs (TOOL-10).

use std::borrow::Cow;

use rustler::{Atom, Term};

use crate::{atoms, fault::Fault, refusal::Refusal};

/// Checks a content block's type and the fields that the type needs.
pub(crate) fn check(block: Term<'_>) -> Result<(), Refusal> {
    let kind = member(block, atoms::type_key(), "type")
        .and_then(name)
        .ok_or_else(|| malformed("needs a \"type\""))?;
    match &*kind {
        "text" => need(block, atoms::text(), "text"),
        "image" | "audio" => {
            need_data(block, atoms::data(), "data")?;
            need(block, atoms::mime_type(), "mimeType")
        }
        "resource_link" => {
            need(block, atoms::uri(), "uri")?;
            need(block, atoms::name(), "name")
        }
        "resource" => check_resource(block),
        other => Err(malformed(&format!(
            "has the type {other:?}; it must be text, image, audio, resource_link or resource"
        ))),
    }
}

fn check_resource(block: Term<'_>) -> Result<(), Refusal> {
    let resource = member(block, atoms::resource(), "resource")
        .ok_or_else(|| malformed("needs the map \"resource\""))?;
    let outcome = need(resource, atoms::uri(), "uri").and_then(|()| {
        need(resource, atoms::text(), "text")
            .or_else(|_| need_data(resource, atoms::blob(), "blob"))
            .map_err(|_| malformed("needs the string \"text\" or \"blob\""))
    });
    outcome.map_err(|refusal| refusal.at(".resource"))
}

fn need(block: Term<'_>, key: Atom, name: &str) -> Result<(), Refusal> {
    match member(block, key, name) {
        Some(text) if text.is_binary() => Ok(()),
        _ => Err(malformed(&format!("needs the string {name:?}"))),
    }
}

/// What a tuple holds is for the writer to check.
fn need_data(block: Term<'_>, key: Atom, name: &str) -> Result<(), Refusal> {
    match member(block, key, name) {
        Some(data) if data.is_binary() || data.is_tuple() => Ok(()),
        _ => Err(malformed(&format!(
            "needs {name:?}: {{:bytes, binary}} or a string in Base64"
        ))),
    }
}

/// A member under its atom or its string.
pub(crate) fn member<'a>(map: Term<'a>, key: Atom, name: &str) -> Option<Term<'a>> {
    let found = map.map_get(key).or_else(|_| map.map_get(name));
    found.ok()
}

/// A name that the host wrote as a string or an atom.
pub(crate) fn name(term: Term<'_>) -> Option<Cow<'_, str>> {
    match term.decode::<&str>() {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => term.atom_to_string().ok().map(Cow::Owned),
    }
}

pub(crate) fn malformed(detail: &str) -> Refusal {
    Refusal::fault(Fault::new(atoms::content(), detail))
}
