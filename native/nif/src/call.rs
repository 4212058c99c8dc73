//! Calls as the processes that run them see them: taken once, asked about.

use mcp_driver::{Acceptance, Accepted};
use mcp_protocol::{Ask, Json, RequestContext};
use rustler::{Encoder, Env, LocalPid, Term};

use crate::{
    atoms,
    budget::Scheduler,
    instance::{Instance, InstanceHandle},
    question, timing,
};

/// `accept/2`
#[rustler::nif]
fn accept<'a>(env: Env<'a>, handle: &'a InstanceHandle, call: u64) -> Term<'a> {
    let _time = timing::measure("accept");
    take(env, handle.instance(), call, |ask| !is_large(ask))
}

/// `accept_large/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn accept_large<'a>(env: Env<'a>, handle: &'a InstanceHandle, call: u64) -> Term<'a> {
    take(env, handle.instance(), call, |_| true)
}

/// `workers/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn workers(handle: &InstanceHandle) -> Vec<LocalPid> {
    handle.instance().calls.workers()
}

/// `cancelled/2`
#[rustler::nif]
fn cancelled(handle: &InstanceHandle, call: u64) -> bool {
    let _time = timing::measure("cancelled");
    !handle.instance().calls.is_open(call)
}

fn take<'a>(
    env: Env<'a>,
    instance: &Instance,
    call: u64,
    wants: impl FnOnce(&Ask) -> bool,
) -> Term<'a> {
    match instance.calls.accept(call, env.pid(), wants) {
        Acceptance::Accepted(Accepted { token, ask }) => {
            question::encode(env, instance, token, ask)
        }
        Acceptance::Declined => atoms::large().encode(env),
        Acceptance::Gone => atoms::gone().encode(env),
    }
}

/// Whether turning the question into terms, and freeing what it held, is work for a dirty scheduler.
fn is_large(ask: &Ask) -> bool {
    let (terms, bytes) = match ask {
        Ask::Call(call) => size(&call.context),
        Ask::Catalog(context) => size(context),
        Ask::Permit(ask) => size(&ask.context),
        Ask::Sift { context, names, .. } => {
            let (terms, bytes) = size(context);
            (terms + names.len(), bytes)
        }
        Ask::AuthorizeBody { body, .. } => (0, body.len()),
        _ => (0, 0),
    };
    Scheduler::Normal.refuses(terms, bytes)
}

/// Whether a request takes so little memory that nobody minds who holds it.
pub(crate) fn is_small(context: &RequestContext) -> bool {
    let (terms, bytes) = size(context);
    terms <= SMALL_TERMS && bytes <= SMALL_BYTES
}

const SMALL_TERMS: usize = 256;
const SMALL_BYTES: usize = 4_096;

/// How many values and bytes a request's message has, and what its session says of the client.
fn size(context: &RequestContext) -> (usize, usize) {
    let text = |json| match json {
        Json::Text(text) => text.len(),
        Json::Node(_) => 0,
    };
    let message = context.message();
    let client = text(context.client_capabilities()) + context.client_info().map_or(0, text);
    (message.len(), message.bytes().len() + client)
}
