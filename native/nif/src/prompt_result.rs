//! What the handler of a prompt answered.

use mcp_protocol::PromptResult;
use rustler::{Atom, Term};

use crate::{
    atoms, block,
    outcome::{Reader, unknown},
    refusal::Refusal,
    slot::Slot,
};

/// Reads `{:prompt, description | nil, [message], meta | nil}`.
pub(crate) fn read(reader: &Reader, answer: Term<'_>) -> Result<PromptResult, Refusal> {
    let (tag, description, messages, meta): (Atom, Option<String>, Term<'_>, Term<'_>) =
        answer.decode().map_err(|_| unknown_answer())?;
    if tag != atoms::prompt() {
        return Err(unknown_answer());
    }
    Ok(PromptResult {
        description,
        messages: written(reader, messages).map_err(|refusal| refusal.at(".messages"))?,
        meta: reader.meta(meta)?,
    })
}

fn written(reader: &Reader, messages: Term<'_>) -> Result<Vec<u8>, Refusal> {
    let json = reader.json(messages, Slot::Messages)?;
    let messages: Vec<Term<'_>> = messages
        .decode()
        .map_err(|_| block::malformed("must be a list of messages"))?;
    for (index, message) in messages.into_iter().enumerate() {
        check(message).map_err(|refusal| refusal.at(&format!("[{index}]")))?;
    }
    Ok(json)
}

/// Whose message it is, and its one content block (PRM-3).
fn check(message: Term<'_>) -> Result<(), Refusal> {
    let role = block::member(message, atoms::role(), "role").and_then(block::name);
    if !matches!(role.as_deref(), Some("user" | "assistant")) {
        return Err(block::malformed("needs the \"role\" user or assistant"));
    }
    match block::member(message, atoms::content(), "content") {
        Some(content) if content.is_map() => {
            block::check(content).map_err(|refusal| refusal.at(".content"))
        }
        _ => Err(block::malformed("needs one content block as \"content\"")),
    }
}

fn unknown_answer() -> Refusal {
    unknown(
        "{:prompt, binary | nil, [message], map | nil}, {:safe_error, binary, value | nil} or :failed",
    )
}
