//! What completed an argument.

use mcp_protocol::CompletionResult;
use rustler::{Atom, ListIterator, Term};

use crate::{
    atoms, block,
    outcome::{Reader, unknown},
    refusal::Refusal,
};

/// Reads `{:completion, [binary], total | nil, has_more | nil}`.
pub(crate) fn read(reader: &Reader, answer: Term<'_>) -> Result<CompletionResult, Refusal> {
    let (tag, values, total, has_more): (Atom, ListIterator<'_>, Option<u64>, Option<bool>) =
        answer.decode().map_err(|_| unknown_answer())?;
    if tag != atoms::completion() {
        return Err(unknown_answer());
    }
    Ok(CompletionResult {
        values: strings(reader, values).map_err(|refusal| refusal.at(".values"))?,
        total,
        has_more,
    })
}

fn strings(reader: &Reader, values: ListIterator<'_>) -> Result<Vec<String>, Refusal> {
    let (mut strings, mut bytes) = (Vec::new(), 0);
    for (index, value) in values.enumerate() {
        let value: String = value
            .decode()
            .map_err(|_| block::malformed("must be a UTF-8 string").at(&format!("[{index}]")))?;
        bytes += value.len();
        if reader.scheduler.refuses(index, bytes) {
            return Err(Refusal::Large);
        }
        if bytes > reader.max_bytes {
            let detail = format!("are more than {} bytes", reader.max_bytes);
            return Err(block::malformed(&detail));
        }
        strings.push(value);
    }
    Ok(strings)
}

fn unknown_answer() -> Refusal {
    unknown(
        "{:completion, [binary], integer | nil, boolean | nil}, {:safe_error, binary, value | nil} or :failed",
    )
}
