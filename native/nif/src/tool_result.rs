//! What a tool answered.

use mcp_json::write;
use mcp_protocol::ToolResult;
use rustler::{Atom, Binary, Term};

use crate::{
    atoms, block,
    outcome::{Reader, unknown},
    refusal::Refusal,
    slot::Slot,
};

/// Reads a tool's answer.
pub(crate) fn read(reader: &Reader, answer: Term<'_>) -> Result<ToolResult, Refusal> {
    match answer.decode::<(Atom, Term<'_>)>() {
        Ok((tag, of)) if tag == atoms::text() => text(reader, of, false),
        Ok((tag, of)) if tag == atoms::error_text() => text(reader, of, true),
        Ok((tag, value)) if tag == atoms::structured() => structured(reader, value),
        _ => full(reader, answer),
    }
}

/// One text block.
fn text(reader: &Reader, text: Term<'_>, is_error: bool) -> Result<ToolResult, Refusal> {
    let length = Binary::from_term(text).map_or(0, |text| text.len());
    let mut writer = reader.writer(length);
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
fn structured(reader: &Reader, value: Term<'_>) -> Result<ToolResult, Refusal> {
    let json = reader.json(value, Slot::Value)?;
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

/// `{:result, content, structured, is_error, meta}`
type Full<'a> = (Atom, Term<'a>, Term<'a>, bool, Term<'a>);

/// A result whose every part the host chose.
fn full(reader: &Reader, answer: Term<'_>) -> Result<ToolResult, Refusal> {
    let (tag, content, structured, is_error, meta) =
        answer.decode::<Full<'_>>().map_err(|_| unknown_answer())?;
    if tag != atoms::result() {
        return Err(unknown_answer());
    }
    Ok(ToolResult {
        content: blocks(reader, content).map_err(|refusal| refusal.at(".content"))?,
        structured: optional(reader, structured)?,
        is_error,
        meta: reader.meta(meta)?,
    })
}

fn blocks(reader: &Reader, blocks: Term<'_>) -> Result<Vec<u8>, Refusal> {
    let json = reader.json(blocks, Slot::Blocks)?;
    let blocks: Vec<Term<'_>> = blocks
        .decode()
        .map_err(|_| block::malformed("must be a list of content blocks"))?;
    for (index, block) in blocks.into_iter().enumerate() {
        block::check(block).map_err(|refusal| refusal.at(&format!("[{index}]")))?;
    }
    Ok(json)
}

fn optional(reader: &Reader, structured: Term<'_>) -> Result<Option<Vec<u8>>, Refusal> {
    if atoms::none() == structured {
        return Ok(None);
    }
    match structured.decode::<(Atom, Term<'_>)>() {
        Ok((tag, value)) if tag == atoms::some() => reader.json(value, Slot::Value).map(Some),
        _ => Err(unknown_answer()),
    }
}

const TEXT_BLOCK_START: &[u8] = br#"[{"type":"text","text":"#;
const TEXT_BLOCK_END: &[u8] = b"}]";

fn unknown_answer() -> Refusal {
    unknown(
        "{:text, binary}, {:structured, value}, {:error_text, binary}, {:safe_error, binary, value | nil}, :failed \
         or {:result, content, :none | {:some, value}, boolean, map | nil}",
    )
}
