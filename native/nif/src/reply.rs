//! Answers of processes: terms in, one [`Input`] to the exchange that waits.

use std::sync::Arc;

use bytes::Bytes;
use mcp_auth::{Reason, Scope, StepUp};
use mcp_protocol::{
    Authorized, Catalog, Identity, Input, LogLevel, Permission, Principal, Revision, Session,
    SessionAnswer, Unanswered, Uris,
};
use rustler::{Atom, Binary, Encoder, Env, NifResult, Term, types::atom};

use crate::{
    atoms,
    budget::Scheduler,
    catalog::CatalogSnapshot,
    outcome,
    refusal::Refusal,
    task, timing,
    token::{Asked, CallToken},
};

/// `reply/2`
#[rustler::nif]
fn reply<'a>(env: Env<'a>, token: &'a CallToken, answer: Term<'a>) -> Term<'a> {
    let _time = timing::measure("reply");
    answer_with(env, token, answer, Scheduler::Normal)
}

/// `reply_large/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn reply_large<'a>(env: Env<'a>, token: &'a CallToken, answer: Term<'a>) -> Term<'a> {
    answer_with(env, token, answer, Scheduler::Dirty)
}

fn answer_with<'a>(
    env: Env<'a>,
    token: &CallToken,
    answer: Term<'a>,
    scheduler: Scheduler,
) -> Term<'a> {
    let replied = match note(answer) {
        Some(note) => Ok(token.reply_asked(note)),
        None => match &token.asked {
            Asked::Call(held) => token.reply_to_call(held, |call| {
                outcome::read(&call.target, answer, scheduler, token.max_result_bytes)
            }),
            asked => read(asked, answer, scheduler).map(|input| token.token.reply(input)),
        },
    };
    match replied {
        Ok(true) => atom::ok().encode(env),
        Ok(false) => atoms::late().encode(env),
        Err(refusal) => refusal.encode(env),
    }
}

/// `{:asked, note}`
fn note(answer: Term<'_>) -> Option<&str> {
    let (tag, note) = answer.decode::<(Atom, &str)>().ok()?;
    (tag == atoms::asked()).then_some(note)
}

/// An answer to anything but a call.
fn read(asked: &Asked, answer: Term<'_>, scheduler: Scheduler) -> Result<Input, Refusal> {
    let input = match asked {
        _ if atoms::failed() == answer => Input::Unanswered(Unanswered::Failed),
        Asked::Authorize => Input::Authorized(authorized(answer)?),
        Asked::Relay => Input::Done,
        Asked::Fetch if atom::ok() == answer => Input::Done,
        Asked::Fetch | Asked::Call(_) => Input::Unanswered(Unanswered::Failed),
        Asked::Settle => Input::Authorized(settled(answer)?),
        Asked::Permit => Input::Permission(permission(answer)?),
        Asked::Sift => Input::Sifted(sifted(answer)?),
        Asked::Session => Input::Session(session(answer)?),
        Asked::Task => Input::Task(task::answer(answer, scheduler)?),
        Asked::Catalog => Input::Catalog(catalog(answer)?),
    };
    Ok(input)
}

/// `{:accept, principal, identity, scopes | nil}`
type Accepting<'a> = (Atom, Binary<'a>, Binary<'a>, Option<Vec<&'a str>>);

fn authorized(answer: Term<'_>) -> Result<Authorized, Refusal> {
    if atoms::accept() == answer {
        return Ok(Authorized::Accept(None));
    }
    if atoms::deny() == answer {
        return Ok(Authorized::Deny);
    }
    if let Ok((tag, principal, term, scopes)) = answer.decode::<Accepting<'_>>()
        && tag == atoms::accept()
    {
        let granted = |scopes: Vec<&str>| scopes.into_iter().filter_map(Scope::parse).collect();
        let identity = Identity {
            principal: Principal::new(&principal),
            scopes: scopes.map(granted).map(Arc::new),
            term: Bytes::copy_from_slice(&term),
        };
        return Ok(Authorized::Accept(Some(identity)));
    }
    match answer.decode::<(Atom, String)>() {
        Ok((tag, challenge)) if tag == atoms::challenge() => Ok(Authorized::Challenge(challenge)),
        _ => Err(outcome::unknown(
            ":accept, {:accept, binary, binary, strings}, :deny, {:challenge, UTF-8 binary} or :failed",
        )),
    }
}

fn settled(answer: Term<'_>) -> Result<Authorized, Refusal> {
    if atoms::settled() == answer {
        return Ok(Authorized::Settled);
    }
    let against = |(tag, word): (Atom, &str)| {
        (tag == atoms::unsettled())
            .then(|| Reason::parse(word))
            .flatten()
    };
    match answer.decode().ok().and_then(against) {
        Some(reason) => Ok(Authorized::Unsettled(reason)),
        None => authorized(answer),
    }
}

fn permission(answer: Term<'_>) -> Result<Permission, Refusal> {
    if atoms::permitted() == answer {
        return Ok(Permission::Permitted);
    }
    if atoms::denied() == answer {
        return Ok(Permission::Denied);
    }
    match answer.decode::<(Atom, Vec<String>, Option<u64>)>() {
        Ok((tag, acr_values, max_age_s)) if tag == atoms::step_up() => {
            Ok(Permission::StepUp(StepUp {
                acr_values,
                max_age_s,
            }))
        }
        _ => Err(outcome::unknown(
            ":permitted, :denied, {:step_up, strings, seconds | nil} or :failed",
        )),
    }
}

/// `{:sifted, binary}`
fn sifted(answer: Term<'_>) -> Result<Vec<u8>, Refusal> {
    match answer.decode::<(Atom, Binary<'_>)>() {
        Ok((tag, verdicts)) if tag == atoms::sifted() => Ok(verdicts.to_vec()),
        _ => Err(outcome::unknown("{:sifted, binary} or :failed")),
    }
}

fn session(answer: Term<'_>) -> Result<SessionAnswer, Refusal> {
    let plain = [
        (atoms::deleted(), SessionAnswer::Deleted),
        (atoms::updated(), SessionAnswer::Updated),
        (atoms::unknown(), SessionAnswer::Unknown),
        (atoms::full(), SessionAnswer::Full),
    ];
    if let Some((_, plain)) = plain.into_iter().find(|(tag, _)| *tag == answer) {
        return Ok(plain);
    }
    let found = match answer.decode::<(Atom, Term<'_>)>() {
        Ok((tag, id)) if tag == atoms::created() => id
            .decode::<&str>()
            .ok()
            .map(|id| SessionAnswer::Created(id.into())),
        Ok((tag, session)) if tag == atoms::found() => {
            stored(session).ok().map(SessionAnswer::Found)
        }
        _ => None,
    };
    found.ok_or_else(|| {
        outcome::unknown(
            "{:created, id}, {:found, session}, :updated, :deleted, :unknown, :full or :failed",
        )
    })
}

/// A session as a store keeps it.
fn stored(session: Term<'_>) -> NifResult<Session> {
    let text = |key: Atom| session.map_get(key)?.decode::<&str>();
    let principal: Option<Binary<'_>> = session.map_get(atoms::principal())?.decode()?;
    Ok(Session {
        revision: Revision::parse(text(atoms::revision())?).ok_or(rustler::Error::BadArg)?,
        client_info: text(atoms::client_info())?.into(),
        client_capabilities: text(atoms::client_capabilities())?.into(),
        log_level: log_level(session)?,
        subscriptions: subscriptions(session)?,
        principal: principal.map(|bytes| Principal::new(&bytes)),
    })
}

/// A store may hold sessions of before there were log levels in them.
fn log_level(session: Term<'_>) -> NifResult<Option<LogLevel>> {
    match session.map_get(atoms::log_level()) {
        Ok(level) => Ok(level.decode::<Option<&str>>()?.and_then(LogLevel::parse)),
        Err(_) => Ok(None),
    }
}

/// A store may hold sessions of before there were subscriptions in them.
fn subscriptions(session: Term<'_>) -> NifResult<Uris> {
    let Ok(uris) = session.map_get(atoms::subscriptions()) else {
        return Ok(Uris::default());
    };
    let uris: Vec<&str> = uris.decode()?;
    Ok(Arc::new(uris.into_iter().map(Arc::from).collect()))
}

fn catalog(answer: Term<'_>) -> Result<Arc<Catalog>, Refusal> {
    match answer.decode::<(Atom, &CatalogSnapshot)>() {
        Ok((tag, snapshot)) if tag == atoms::catalog() => Ok(snapshot.catalog()),
        _ => Err(outcome::unknown("{:catalog, catalog} or :failed")),
    }
}
