//! What a running call asks its client, and what the client answers.

use mcp_driver::Asking;
use mcp_protocol::{InputAnswer, InputKind, InputQuestion};
use rustler::{Atom, Encoder, Env, NifResult, Term, types::atom};

use crate::{
    atoms, budget::Scheduler, decode::binary, fault::Fault, instance::InstanceHandle,
    refusal::Refusal, slot::Slot, writer::JsonWriter,
};

/// `ask/4`: questions are `{key | nil, request}`. Checking them takes a schema compiler, and nobody asks often, so all of
/// it is done on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn ask<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    call: u64,
    questions: Vec<(Option<String>, Term<'a>)>,
    optional: bool,
) -> Term<'a> {
    let questions = match self::questions(questions) {
        Ok(questions) => questions,
        Err(refusal) => return refusal.encode(env),
    };
    let instance = handle.instance();
    let asking = instance
        .calls
        .ask(call, env.pid(), questions, optional, &instance.buffers);
    match asking {
        Asking::Answers(all) => (atoms::answers(), encoded(env, &all)).encode(env),
        Asking::Ends => atoms::ends().encode(env),
        Asking::Refused => atoms::refused().encode(env),
        Asking::Waits => atoms::waits().encode(env),
        Asking::Busy => atoms::busy().encode(env),
        Asking::Fault(text) => Fault::new(atoms::request(), text).encode(env),
        Asking::Gone => atoms::gone().encode(env),
        Asking::Foreign => atoms::foreign().encode(env),
    }
}

/// `answers/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn answers<'a>(env: Env<'a>, handle: &'a InstanceHandle, call: u64) -> Term<'a> {
    let answers = handle.instance().calls.answers(call, env.pid());
    answers.map(|all| encoded(env, &all)).encode(env)
}

/// `restart/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn restart(env: Env<'_>, handle: &InstanceHandle, call: u64) -> Atom {
    handle.instance().calls.restart(call, env.pid());
    atom::ok()
}

/// `noted/2`: `{note | nil, expires_ms}`, or `nil` for a call whose request brought no state along.
#[rustler::nif(schedule = "DirtyCpu")]
fn noted<'a>(env: Env<'a>, handle: &'a InstanceHandle, call: u64) -> Term<'a> {
    handle.instance().calls.noted(call, env.pid()).encode(env)
}

/// `supports/3`
#[rustler::nif(schedule = "DirtyCpu")]
fn supports<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    call: u64,
    kind: &'a str,
) -> NifResult<Term<'a>> {
    let kind = InputKind::parse(kind).ok_or(rustler::Error::BadArg)?;
    let supports = handle.instance().calls.supports(call, env.pid(), kind);
    Ok(match supports {
        Some(supports) => supports.encode(env),
        None => atoms::foreign().encode(env),
    })
}

/// Questions as the core reads them.
pub(crate) fn questions(
    questions: Vec<(Option<String>, Term<'_>)>,
) -> Result<Vec<InputQuestion>, Refusal> {
    let read = questions.into_iter();
    read.map(|(key, request)| question(key, request)).collect()
}

fn question(key: Option<String>, request: Term<'_>) -> Result<InputQuestion, Refusal> {
    let mut writer = JsonWriter::new(256, Scheduler::Dirty, MAX_REQUEST_BYTES);
    writer.slot(request, Slot::InputRequest)?;
    Ok(InputQuestion {
        key,
        request: writer.finish(),
    })
}

/// `{:result, json}`, `{:error, code, message}`, `:malformed` or `:undeclared` for each.
pub(crate) fn encoded<'a>(env: Env<'a>, answers: &[InputAnswer]) -> Vec<Term<'a>> {
    let term = |answer: &InputAnswer| match answer {
        InputAnswer::Result(json) => {
            let json = binary(env, json.as_bytes());
            (atoms::result(), json).encode(env)
        }
        InputAnswer::Error { code, message } => (atom::error(), *code, &**message).encode(env),
        InputAnswer::Malformed => atoms::malformed().encode(env),
        InputAnswer::Undeclared => atoms::undeclared().encode(env),
    };
    answers.iter().map(term).collect()
}

/// Bytes of one input request: it goes to a client as it stands.
const MAX_REQUEST_BYTES: usize = 1_048_576;
