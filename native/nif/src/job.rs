//! The work of a task, as a term that its process holds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcp_json::Document;
use mcp_protocol::{Ended, InputKind, Job, JobAsked, Target, TaskSupport};
use rustler::{Binary, Encoder, Env, NifResult, Resource, ResourceArc, Term, types::atom};

use crate::{
    asking, atoms,
    budget::Scheduler,
    decode::{CHECKED, binary},
    fault::Fault,
    instance::InstanceHandle,
    outcome,
    token::{Asked, CallToken},
};

/// A job, and how large its results may be.
pub(crate) struct JobHandle {
    job: Mutex<Job>,
    target: Target,
    max_result_bytes: usize,
}

#[rustler::resource_impl]
impl Resource for JobHandle {}

/// `job_new/2`: `{:ok, job, bytes}` with the size of the request that it comes from; `:inline` when the client takes no
/// tasks, `:forbidden` when the tool does not, `:gone` when nobody waits any more.
#[rustler::nif(schedule = "DirtyCpu")]
fn job_new<'a>(env: Env<'a>, handle: &'a InstanceHandle, token: &'a CallToken) -> Term<'a> {
    let Asked::Call(held) = &token.asked else {
        return atoms::forbidden().encode(env);
    };
    let (target, takes_task) = match &*held.call() {
        Some(call) => (call.target.clone(), call.takes_task),
        None => return atoms::gone().encode(env),
    };
    let tool = match &target {
        Target::Tool(tool) if tool.task_support != TaskSupport::Forbidden => Arc::clone(tool),
        _ => return atoms::forbidden().encode(env),
    };
    if !takes_task {
        return atoms::inline().encode(env);
    }
    let Some(inquiry) = token.token.inquiry() else {
        return atoms::gone().encode(env);
    };
    let bytes = inquiry.message_bytes();
    let config = Arc::clone(&handle.instance().shared.load().config);
    let job = Job::new(tool, *inquiry, config, held.place.clone());
    let job = JobHandle {
        job: Mutex::new(job),
        target,
        max_result_bytes: token.max_result_bytes,
    };
    (atom::ok(), ResourceArc::new(job), bytes).encode(env)
}

/// `job_ask/3`
#[rustler::nif(schedule = "DirtyCpu")]
fn job_ask<'a>(
    env: Env<'a>,
    handle: &'a JobHandle,
    questions: Vec<(Option<String>, Term<'a>)>,
    optional: bool,
) -> Term<'a> {
    let questions = match asking::questions(questions) {
        Ok(questions) => questions,
        Err(refusal) => return refusal.encode(env),
    };
    match handle.job().ask(questions, optional) {
        Ok(asked) => encoded(env, &asked),
        Err(text) => Fault::new(atoms::request(), text).encode(env),
    }
}

/// `job_hear/2`: responses are `{key, json}`. With what comes of them, how many bytes of answers were kept.
#[rustler::nif(schedule = "DirtyCpu")]
fn job_hear<'a>(
    env: Env<'a>,
    handle: &'a JobHandle,
    responses: Vec<(String, Binary<'a>)>,
) -> Term<'a> {
    let mut job = handle.job();
    let before = job.answer_bytes();
    for (key, json) in responses {
        // They were read as part of a message before.
        if let Ok(response) = Document::parse(Bytes::copy_from_slice(&json), &CHECKED) {
            job.hear(&key, response.root());
        }
    }
    let kept = job.answer_bytes() - before;
    (encoded(env, &job.heard()), kept).encode(env)
}

/// `job_supports/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn job_supports(handle: &JobHandle, kind: &str) -> NifResult<bool> {
    let kind = InputKind::parse(kind).ok_or(rustler::Error::BadArg)?;
    Ok(handle.job().supports(kind))
}

/// `job_end/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn job_end<'a>(env: Env<'a>, handle: &'a JobHandle, answer: Term<'a>) -> Term<'a> {
    let most = handle.max_result_bytes;
    let outcome = match outcome::read(&handle.target, answer, Scheduler::Dirty, most) {
        Ok(outcome) => outcome,
        Err(refusal) => return refusal.encode(env),
    };
    let Ended { result, fault } = handle.job().end(outcome);
    (atoms::completed(), binary(env, &result), fault).encode(env)
}

impl JobHandle {
    /// One that panicked left the job as it was: each change of it is a single assignment.
    fn job(&self) -> MutexGuard<'_, Job> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `{:answers, answers}`, `{:open, json}` or `{:lacks, json}`
fn encoded<'a>(env: Env<'a>, asked: &JobAsked) -> Term<'a> {
    match asked {
        JobAsked::Answers(answers) => (atoms::answers(), asking::encoded(env, answers)).encode(env),
        JobAsked::Open(json) => (atoms::open(), binary(env, json)).encode(env),
        JobAsked::Lacks(json) => (atoms::lacks(), binary(env, json)).encode(env),
    }
}
