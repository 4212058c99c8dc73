//! What a handler answered, as the core's one form of each kind of result.

use mcp_protocol::{CallOutcome, SafeError, Target};
use rustler::{Atom, Term, types::atom};

use crate::{
    atoms,
    budget::{MAX_BYTES, Scheduler},
    completion_result, contents,
    fault::Fault,
    prompt_result,
    refusal::Refusal,
    slot::Slot,
    task, tool_result,
    writer::JsonWriter,
};

/// Reads the answer of a handler.
pub(crate) fn read(
    target: &Target,
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
    if atoms::state_used() == answer {
        return Ok(CallOutcome::StateUsed);
    }
    if atoms::not_found() == answer {
        return Ok(CallOutcome::NotFound);
    }
    if atoms::tasks_full() == answer {
        return Ok(CallOutcome::TasksFull);
    }
    if atoms::tasks_unavailable() == answer {
        return Ok(CallOutcome::TasksUnavailable);
    }
    if let Ok((tag, began)) = answer.decode::<(Atom, Term<'_>)>()
        && tag == atoms::task()
    {
        let task = task::read(began, scheduler)?;
        return Ok(CallOutcome::Task(Box::new(task)));
    }
    if let Ok((tag, message, data)) = answer.decode::<(Atom, Term<'_>, Term<'_>)>()
        && tag == atoms::safe_error()
    {
        return reader.safe_error(message, data).map(CallOutcome::SafeError);
    }
    match target {
        Target::Tool(_) => tool_result::read(&reader, answer).map(CallOutcome::Tool),
        Target::Resource(_) => contents::read(&reader, answer).map(CallOutcome::Contents),
        Target::Prompt(_) => prompt_result::read(&reader, answer).map(CallOutcome::Prompt),
        Target::Completion(_) => {
            completion_result::read(&reader, answer).map(CallOutcome::Completion)
        }
    }
}

/// Turns the parts of an answer into JSON, within the budget of the scheduler that it runs on.
pub(crate) struct Reader {
    pub(crate) scheduler: Scheduler,
    pub(crate) max_bytes: usize,
}

impl Reader {
    /// The JSON of a value.
    pub(crate) fn json(&self, value: Term<'_>, slot: Slot) -> Result<Vec<u8>, Refusal> {
        let mut writer = self.writer(64);
        writer.slot(value, slot)?;
        Ok(writer.finish())
    }

    /// `_meta`: a map, or `nil`.
    pub(crate) fn meta(&self, meta: Term<'_>) -> Result<Option<Vec<u8>>, Refusal> {
        if atom::nil() == meta {
            return Ok(None);
        }
        let json = match meta.is_map() {
            true => self.json(meta, Slot::Value),
            false => Err(unknown("a map or nil")),
        };
        json.map(Some).map_err(|refusal| refusal.at("._meta"))
    }

    /// A writer with room for `capacity` bytes, as far as the budget allows them.
    pub(crate) fn writer(&self, capacity: usize) -> JsonWriter {
        let capacity = match self.scheduler {
            Scheduler::Normal => capacity.min(MAX_BYTES),
            Scheduler::Dirty => capacity.min(self.max_bytes),
        };
        JsonWriter::new(capacity + 64, self.scheduler, self.max_bytes)
    }

    fn safe_error(&self, message: Term<'_>, data: Term<'_>) -> Result<SafeError, Refusal> {
        let message = message
            .decode()
            .map_err(|_| unknown("{:safe_error, UTF-8 binary, value | nil}"))?;
        let data = match data {
            absent if atom::nil() == absent => None,
            data => Some(self.json(data, Slot::Value)?),
        };
        Ok(SafeError {
            message,
            data: data.map(|json| {
                String::from_utf8(json).expect("the writer writes strings that are UTF-8 only")
            }),
        })
    }
}

/// A term that is no answer to what was asked.
pub(crate) fn unknown(expected: &str) -> Refusal {
    let detail = format!("is no answer; give {expected}");
    Refusal::fault(Fault::new(atoms::answer(), detail))
}
