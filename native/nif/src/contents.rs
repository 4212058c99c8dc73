//! What the reader of a resource answered.

use std::ops::Range;

use bytes::Bytes;
use mcp_protocol::{Body, CacheChoice, Contents, Piece};
use rustler::{Atom, MapIterator, Term, types::atom};

use crate::{
    atoms, block,
    definition::cache_scope,
    options::OptionalAtom,
    outcome::{Reader, unknown},
    refusal::Refusal,
    slot::Slot,
    writer::{JsonWriter, name_of},
};

/// Reads `{:contents, [map], meta | nil, {ttl_ms | nil, scope | nil} | nil}`.
pub(crate) fn read(reader: &Reader, answer: Term<'_>) -> Result<Contents, Refusal> {
    let (tag, pieces, meta, cache): (Atom, Vec<Term<'_>>, Term<'_>, Term<'_>) =
        answer.decode().map_err(|_| unknown_answer())?;
    if tag != atoms::contents() {
        return Err(unknown_answer());
    }
    Ok(Contents {
        pieces: read_pieces(reader, pieces)?,
        meta: reader.meta(meta)?,
        cache: choice(cache)?,
    })
}

/// Where the parts of a piece lie in what was written.
struct Written {
    uri: Option<String>,
    mime_type: Option<String>,
    is_blob: bool,
    body: Range<usize>,
    meta: Option<Range<usize>>,
}

/// All pieces are written into one buffer, so that the budget is one and a blob is moved once.
fn read_pieces(reader: &Reader, pieces: Vec<Term<'_>>) -> Result<Vec<Piece>, Refusal> {
    let mut writer = reader.writer(64);
    let mut written = Vec::with_capacity(pieces.len());
    for (index, piece) in pieces.into_iter().enumerate() {
        let piece = write(&mut writer, piece);
        written.push(piece.map_err(|refusal| refusal.at(&format!(".contents[{index}]")))?);
    }
    let json = Bytes::from(writer.finish());
    let pieces = written.into_iter().map(|piece| {
        let body = json.slice(piece.body);
        Piece {
            uri: piece.uri,
            mime_type: piece.mime_type,
            body: match piece.is_blob {
                true => Body::Blob(body),
                false => Body::Text(body),
            },
            meta: piece.meta.map(|range| json.slice(range)),
        }
    });
    Ok(pieces.collect())
}

fn write(writer: &mut JsonWriter, piece: Term<'_>) -> Result<Written, Refusal> {
    check_keys(piece)?;
    let text = block::member(piece, atoms::text(), "text");
    let blob = block::member(piece, atoms::blob(), "blob");
    let (part, slot, place) = match (text, blob) {
        (Some(text), None) if text.is_binary() => (text, Slot::Value, ".text"),
        (None, Some(blob)) => (blob, Slot::Data, ".blob"),
        _ => return Err(block::malformed("needs the string \"text\" or a \"blob\"")),
    };
    let meta = block::member(piece, atoms::meta_key(), "_meta");
    Ok(Written {
        uri: text_of(block::member(piece, atoms::uri(), "uri"), "uri")?,
        mime_type: text_of(mime_type(piece), "mimeType")?,
        is_blob: slot == Slot::Data,
        body: write_part(writer, part, slot).map_err(|refusal| refusal.at(place))?,
        meta: match meta {
            Some(meta) if meta.is_map() => Some(
                write_part(writer, meta, Slot::Value).map_err(|refusal| refusal.at("._meta"))?,
            ),
            Some(_) => return Err(block::malformed("needs a map as \"_meta\"")),
            None => None,
        },
    })
}

fn write_part(
    writer: &mut JsonWriter,
    part: Term<'_>,
    slot: Slot,
) -> Result<Range<usize>, Refusal> {
    let start = writer.len();
    writer.slot(part, slot)?;
    Ok(start..writer.len())
}

fn mime_type(piece: Term<'_>) -> Option<Term<'_>> {
    block::member(piece, atoms::mime_type(), "mimeType")
        .or_else(|| block::member(piece, atoms::mime_type_key(), "mime_type"))
}

fn text_of(text: Option<Term<'_>>, name: &str) -> Result<Option<String>, Refusal> {
    match text {
        Some(nil) if atom::nil() == nil => Ok(None),
        Some(text) => text
            .decode()
            .map(Some)
            .map_err(|_| block::malformed(&format!("needs a UTF-8 string as {name:?}"))),
        None => Ok(None),
    }
}

fn check_keys(piece: Term<'_>) -> Result<(), Refusal> {
    if piece.map_get(atoms::struct_key()).is_ok() {
        return Err(Refusal::Prepare);
    }
    let members = MapIterator::new(piece).ok_or_else(|| block::malformed("must be a map"))?;
    for (key, _) in members {
        let name = name_of(key);
        if !KEYS.contains(&name.as_str()) {
            return Err(block::malformed(&format!(
                "has the key {name:?}; contents have {}",
                KEYS.join(", ")
            )));
        }
    }
    Ok(())
}

const KEYS: [&str; 6] = ["uri", "mimeType", "mime_type", "text", "blob", "_meta"];

fn choice(cache: Term<'_>) -> Result<CacheChoice, Refusal> {
    if atom::nil() == cache {
        return Ok(CacheChoice::default());
    }
    let (ttl_ms, OptionalAtom(scope)): (Option<u64>, _) =
        cache.decode().map_err(|_| unknown_answer())?;
    Ok(CacheChoice {
        ttl_ms,
        scope: scope.map(cache_scope),
    })
}

fn unknown_answer() -> Refusal {
    unknown(
        "{:contents, [map], map | nil, {ttl_ms | nil, :public | :private | nil} | nil}, :not_found, \
         {:safe_error, binary, value | nil} or :failed",
    )
}
