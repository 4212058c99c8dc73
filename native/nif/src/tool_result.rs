//! What a tool answered, as the core's one form of a result.

use std::borrow::Cow;

use mcp_json::write;
use mcp_protocol::{CallOutcome, ToolResult};
use rustler::{Atom, Binary, Term, types::atom};

use crate::{
    atoms,
    budget::{MAX_BYTES, Scheduler},
    fault::Fault,
    refusal::Refusal,
    writer::JsonWriter,
};

/// Reads a tool's answer.
pub(crate) fn read(
    answer: Term<'_>,
    scheduler: Scheduler,
    max_bytes: usize,
) -> Result<CallOutcome, Refusal> {
    let reader = Reader {
        scheduler,
        max_bytes,
    };
    if atoms::failed() == answer {
        return Ok(CallOutcome::Failed);
    }
    let result = match answer.decode::<(Atom, Term<'_>)>() {
        Ok((tag, text)) if tag == atoms::text() => reader.text(text, false)?,
        Ok((tag, text)) if tag == atoms::error_text() => reader.text(text, true)?,
        Ok((tag, value)) if tag == atoms::structured() => reader.structured(value)?,
        _ => reader.full(answer)?,
    };
    Ok(CallOutcome::Tool(result))
}

/// `{:result, content, structured, is_error, meta}`
type Full<'a> = (Atom, Term<'a>, Term<'a>, bool, Term<'a>);

struct Reader {
    scheduler: Scheduler,
    max_bytes: usize,
}

impl Reader {
    /// One text block.
    fn text(&self, text: Term<'_>, is_error: bool) -> Result<ToolResult, Refusal> {
        let length = Binary::from_term(text).map_or(0, |text| text.len());
        let mut writer = self.writer(length);
        writer.raw(TEXT_BLOCK_START);
        writer.string(text)?;
        writer.raw(TEXT_BLOCK_END);
        Ok(ToolResult {
            content: writer.finish(),
            is_error,
            ..ToolResult::default()
        })
    }

    /// A value, with its JSON as the text for clients that read no structured content (MCP server/tools).
    fn structured(&self, value: Term<'_>) -> Result<ToolResult, Refusal> {
        let mut writer = self.writer(64);
        writer.value(value)?;
        let json = writer.finish();
        let text = str::from_utf8(&json).expect("the writer writes strings that are UTF-8 only");
        let mut content = Vec::with_capacity(json.len() + json.len() / 8 + 32);
        content.extend_from_slice(TEXT_BLOCK_START);
        write::string(&mut content, text);
        content.extend_from_slice(TEXT_BLOCK_END);
        Ok(ToolResult {
            content,
            structured: Some(json),
            ..ToolResult::default()
        })
    }

    /// A result whose every part the host chose.
    fn full(&self, answer: Term<'_>) -> Result<ToolResult, Refusal> {
        let (tag, content, structured, is_error, meta) =
            answer.decode::<Full<'_>>().map_err(|_| unknown_answer())?;
        if tag != atoms::result() {
            return Err(unknown_answer());
        }
        Ok(ToolResult {
            content: self.content(content)?,
            structured: self.optional(structured)?,
            is_error,
            meta: self.meta(meta)?,
        })
    }

    fn content(&self, blocks: Term<'_>) -> Result<Vec<u8>, Refusal> {
        self.blocks(blocks)
            .map_err(|refusal| refusal.at(".content"))
    }

    fn blocks(&self, blocks: Term<'_>) -> Result<Vec<u8>, Refusal> {
        let json = self.json(blocks)?;
        let blocks: Vec<Term<'_>> = blocks
            .decode()
            .map_err(|_| malformed("must be a list of content blocks"))?;
        for (index, block) in blocks.into_iter().enumerate() {
            check_block(block).map_err(|refusal| refusal.at(&format!("[{index}]")))?;
        }
        Ok(json)
    }

    fn optional(&self, structured: Term<'_>) -> Result<Option<Vec<u8>>, Refusal> {
        if atoms::none() == structured {
            return Ok(None);
        }
        match structured.decode::<(Atom, Term<'_>)>() {
            Ok((tag, value)) if tag == atoms::some() => self.json(value).map(Some),
            _ => Err(unknown_answer()),
        }
    }

    fn meta(&self, meta: Term<'_>) -> Result<Option<Vec<u8>>, Refusal> {
        match meta {
            absent if atom::nil() == absent => Ok(None),
            map if map.is_map() => self
                .json(map)
                .map(Some)
                .map_err(|refusal| refusal.at("._meta")),
            _ => Err(unknown_answer()),
        }
    }

    fn json(&self, value: Term<'_>) -> Result<Vec<u8>, Refusal> {
        let mut writer = self.writer(64);
        writer.value(value)?;
        Ok(writer.finish())
    }

    fn writer(&self, capacity: usize) -> JsonWriter {
        let capacity = match self.scheduler {
            Scheduler::Normal => capacity.min(MAX_BYTES),
            Scheduler::Dirty => capacity.min(self.max_bytes),
        };
        let capacity = capacity + TEXT_BLOCK_START.len() + TEXT_BLOCK_END.len() + 8;
        JsonWriter::new(capacity, self.scheduler, self.max_bytes)
    }
}

const TEXT_BLOCK_START: &[u8] = br#"[{"type":"text","text":"#;
const TEXT_BLOCK_END: &[u8] = b"}]";

/// Checks a content block's type and the fields that the type needs (requirement TOOL-10).
fn check_block(block: Term<'_>) -> Result<(), Refusal> {
    let kind = member(block, atoms::type_key(), "type")
        .and_then(name)
        .ok_or_else(|| malformed("needs a \"type\""))?;
    match &*kind {
        "text" => need(block, atoms::text(), "text"),
        "image" | "audio" => {
            need(block, atoms::data(), "data")?;
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
            .or_else(|_| need(resource, atoms::blob(), "blob"))
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

/// A member under its atom or its string.
fn member<'a>(map: Term<'a>, key: Atom, name: &str) -> Option<Term<'a>> {
    let found = map.map_get(key).or_else(|_| map.map_get(name));
    found.ok()
}

/// A name that the host wrote as a string or an atom.
fn name(term: Term<'_>) -> Option<Cow<'_, str>> {
    match term.decode::<&str>() {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => term.atom_to_string().ok().map(Cow::Owned),
    }
}

fn malformed(detail: &str) -> Refusal {
    Refusal::fault(Fault::new(atoms::content(), detail))
}

fn unknown_answer() -> Refusal {
    let detail = "is no answer; give {:text, binary}, {:structured, value}, {:error_text, binary}, :failed or \
                  {:result, content, :none | {:some, value}, boolean, map | nil}";
    Refusal::fault(Fault::new(atoms::answer(), detail))
}
