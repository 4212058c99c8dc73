//! JSON text of any term, for tests and for tools that carry JSON in strings.

use rustler::{Encoder, Env, Term, types::atom};

use crate::{
    budget::{Scheduler, charge},
    decode,
    refusal::Refusal,
    timing,
    writer::JsonWriter,
};

/// `encode/1`
#[rustler::nif]
fn encode<'a>(env: Env<'a>, term: Term<'a>) -> Term<'a> {
    let _time = timing::measure("encode");
    json(env, term, Scheduler::Normal)
}

/// `encode_large/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn encode_large<'a>(env: Env<'a>, term: Term<'a>) -> Term<'a> {
    json(env, term, Scheduler::Dirty)
}

fn json<'a>(env: Env<'a>, term: Term<'a>, scheduler: Scheduler) -> Term<'a> {
    match to_json(term, scheduler, usize::MAX) {
        Ok(json) => {
            if scheduler == Scheduler::Normal {
                charge(env, json.len());
            }
            (atom::ok(), decode::binary(env, &json)).encode(env)
        }
        Err(refusal) => refusal.encode(env),
    }
}

/// The JSON of a term.
pub(crate) fn to_json(
    term: Term<'_>,
    scheduler: Scheduler,
    max_bytes: usize,
) -> Result<Vec<u8>, Refusal> {
    let mut writer = JsonWriter::new(128, scheduler, max_bytes);
    writer.value(term)?;
    Ok(writer.finish())
}
