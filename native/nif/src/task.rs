//! Tasks between the host's store and the core.

use std::sync::Arc;

use bytes::Bytes;
use mcp_protocol::{Task, TaskAnswer, TaskAsk, TaskRequest, TaskStatus};
use rustler::{Atom, Binary, Decoder, Encoder, Env, Term};

use crate::{atoms, budget::Scheduler, decode::binary, outcome, refusal::Refusal};

/// `{:get | :cancel, id, caller}`, `{:update, id, caller, [{key, json}]}` or `{:own, ids, caller}`
pub(crate) fn encode<'a>(env: Env<'a>, ask: &TaskAsk) -> Term<'a> {
    let caller = ask.caller.as_ref();
    let caller = caller
        .map(|principal| binary(env, principal.as_bytes()))
        .encode(env);
    match &ask.request {
        TaskRequest::Get(id) => (atoms::get(), &**id, caller).encode(env),
        TaskRequest::Cancel(id) => (atoms::cancel(), &**id, caller).encode(env),
        TaskRequest::Own(ids) => {
            let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
            (atoms::own(), ids, caller).encode(env)
        }
        TaskRequest::Update(id, responses) => {
            let responses: Vec<(&str, Term<'a>)> = responses
                .iter()
                .map(|(key, json)| (&**key, binary(env, json.as_bytes())))
                .collect();
            (atoms::update(), &**id, caller, responses).encode(env)
        }
    }
}

/// What the host says of tasks.
pub(crate) fn answer(answer: Term<'_>, scheduler: Scheduler) -> Result<TaskAnswer, Refusal> {
    if atoms::done() == answer {
        return Ok(TaskAnswer::Done);
    }
    if atoms::unknown() == answer {
        return Ok(TaskAnswer::Unknown);
    }
    match answer.decode::<(Atom, Term<'_>)>() {
        Ok((tag, task)) if tag == atoms::found() => {
            read(task, scheduler).map(|task| TaskAnswer::Found(Box::new(task)))
        }
        Ok((tag, ids)) if tag == atoms::own() => {
            let ids: Vec<&str> = ids.decode().map_err(|_| unknown_answer())?;
            Ok(TaskAnswer::Own(ids.into_iter().map(Arc::from).collect()))
        }
        _ => Err(unknown_answer()),
    }
}

/// Reads a task: a map with every key present.
pub(crate) fn read(task: Term<'_>, scheduler: Scheduler) -> Result<Task, Refusal> {
    let message: Option<&str> = member(task, atoms::status_message())?;
    Ok(Task {
        id: member::<&str>(task, atoms::id())?.into(),
        status: status(task, scheduler)?,
        status_message: message.map(Box::from),
        created_at: member::<&str>(task, atoms::created_at())?.into(),
        updated_at: member::<&str>(task, atoms::updated_at())?.into(),
        ttl_ms: member(task, atoms::ttl_ms())?,
        poll_interval_ms: member(task, atoms::poll_interval_ms())?,
    })
}

fn status(task: Term<'_>, scheduler: Scheduler) -> Result<TaskStatus, Refusal> {
    let status: Atom = member(task, atoms::status())?;
    if status == atoms::working() {
        return Ok(TaskStatus::Working);
    }
    if status == atoms::cancelled() {
        return Ok(TaskStatus::Cancelled);
    }
    let detail: Binary<'_> = member(task, atoms::detail())?;
    if scheduler.refuses(0, detail.len()) {
        return Err(Refusal::Large);
    }
    let detail = Bytes::copy_from_slice(&detail);
    if status == atoms::input_required() {
        Ok(TaskStatus::InputRequired(detail))
    } else if status == atoms::completed() {
        Ok(TaskStatus::Completed(detail))
    } else if status == atoms::failed() {
        Ok(TaskStatus::Failed(detail))
    } else {
        Err(unknown_answer())
    }
}

fn member<'a, T: Decoder<'a>>(task: Term<'a>, key: Atom) -> Result<T, Refusal> {
    let value = task.map_get(key).and_then(Term::decode);
    value.map_err(|_| unknown_answer())
}

fn unknown_answer() -> Refusal {
    outcome::unknown("{:found, task}, {:own, ids}, :done, :unknown or :failed")
}
