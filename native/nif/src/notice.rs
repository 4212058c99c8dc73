//! What a running call tells its client before its answer.

use mcp_driver::Sent;
use mcp_protocol::{Amount, LogLevel, Notice};
use rustler::{Atom, Binary, Encoder, Env, NifResult, Term, types::atom};

use crate::{atoms, budget::charge, instance::InstanceHandle, timing};

/// `notify/3`: JSON values come as the texts that `encode/1` made of them.
#[rustler::nif]
fn notify<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    call: u64,
    message: Term<'a>,
) -> NifResult<Term<'a>> {
    let _time = timing::measure("notify");
    let instance = handle.instance();
    let notice = notice(message)?;
    charge(env, bytes(&notice));
    let sent = instance.calls.notify(call, notice, &instance.buffers);
    Ok(match sent {
        Sent::Done => atom::ok().encode(env),
        Sent::Busy => (atom::error(), atoms::busy()).encode(env),
        Sent::NotResumable => (atom::error(), atoms::not_supported()).encode(env),
        Sent::NotIncreasing => (atom::error(), atoms::not_increasing()).encode(env),
    })
}

/// `{:progress, number, number | nil, text | nil}`, `{:log, level, logger | nil, json}`,
/// `{:notification, method, json | nil}` or `:break`
fn notice(message: Term<'_>) -> NifResult<Notice<'_>> {
    if atoms::break_off() == message {
        return Ok(Notice::Break);
    }
    if let Ok((tag, progress, total, text)) =
        message.decode::<(Atom, Term<'_>, Term<'_>, Option<&str>)>()
        && tag == atoms::progress()
    {
        return Ok(Notice::Progress {
            progress: amount(progress)?,
            total: match atom::nil() == total {
                true => None,
                false => Some(amount(total)?),
            },
            message: text,
        });
    }
    if let Ok((tag, level, logger, data)) =
        message.decode::<(Atom, &str, Option<&str>, Binary<'_>)>()
        && tag == atoms::log()
    {
        return Ok(Notice::Log {
            level: LogLevel::parse(level).ok_or(rustler::Error::BadArg)?,
            logger,
            data: data.as_slice(),
        });
    }
    let (_, method, params) = message.decode::<(Atom, &str, Option<Binary<'_>>)>()?;
    Ok(Notice::Other {
        method,
        params: params.map(|params| params.as_slice()),
    })
}

/// How much of it is the host's.
fn bytes(notice: &Notice<'_>) -> usize {
    match notice {
        Notice::Progress { message, .. } => message.map_or(0, str::len),
        Notice::Log { data, .. } => data.len(),
        Notice::Other { params, .. } => params.map_or(0, <[u8]>::len),
        Notice::Break => 0,
    }
}

fn amount(number: Term<'_>) -> NifResult<Amount> {
    match number.decode::<i64>() {
        Ok(integer) => Ok(Amount::Integer(integer)),
        Err(_) => number.decode().map(Amount::Float),
    }
}
