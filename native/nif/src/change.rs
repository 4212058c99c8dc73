//! What changed, on its way to those who asked to hear of it.

use std::sync::Arc;

use mcp_driver::end_session;
use mcp_protocol::{Change, Listing, Scope};
use rustler::{Atom, Binary, Encoder, Env, NifResult, Term, types::atom};

use crate::{atoms, fault::Fault, instance::InstanceHandle, workers};

/// One thing for [`mcp_driver::Subscribers`] to do.
enum Notification {
    Change(Change, Option<String>),
    Resubscribe(Scope, Arc<str>, bool),
    EndSession(Scope),
}

/// `publish/2`: takes time in proportion to the subscriptions, and the caller with it, so that no queue grows.
#[rustler::nif(schedule = "DirtyCpu")]
fn publish<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    notification: Term<'a>,
) -> NifResult<Term<'a>> {
    let notification = match read(notification)? {
        Ok(notification) => notification,
        Err(fault) => return Ok(fault.encode(env)),
    };
    let instance = handle.instance();
    let subscribers = &instance.subscribers;
    match notification {
        Notification::Change(change, within) => subscribers.publish(&change, within.as_deref()),
        Notification::Resubscribe(session, uri, adds) => {
            subscribers.resubscribe(&session, &uri, adds);
        }
        Notification::EndSession(session) => {
            let instance = Arc::clone(instance);
            workers::elsewhere(move || end_session(&instance, &session));
        }
    }
    Ok(atom::ok().encode(env))
}

/// `:tools | :resources | :prompts`, `{:resource, uri, within | nil}`, `{:task, id}`,
/// `{:subscribe | :unsubscribe, session, uri}` or `{:delete, session}`
fn read(term: Term<'_>) -> NifResult<Result<Notification, Fault>> {
    if let Some(list) = list(term) {
        return Ok(Ok(Notification::Change(Change::List(list), None)));
    }
    if let Ok((tag, session)) = term.decode::<(Atom, &str)>()
        && tag == atoms::delete()
    {
        return Ok(Ok(Notification::EndSession(Scope::Session(session.into()))));
    }
    if let Ok((tag, id)) = term.decode::<(Atom, &str)>()
        && tag == atoms::task()
    {
        return Ok(Ok(Notification::Change(Change::Task(id.into()), None)));
    }
    let (tag, first, second) = term.decode::<(Atom, Binary<'_>, Term<'_>)>()?;
    let first = text(&first)?;
    if tag == atoms::resource() {
        let within: Option<String> = second.decode()?;
        let change = Change::resource(first).map(|change| Notification::Change(change, within));
        return Ok(change.map_err(|fault| Fault::new(atoms::uri(), fault)));
    }
    let adds = tag == atoms::subscribe();
    if !adds && tag != atoms::unsubscribe() {
        return Err(rustler::Error::BadArg);
    }
    let uri: &str = second.decode()?;
    let session = Scope::Session(first.into());
    Ok(Ok(Notification::Resubscribe(session, uri.into(), adds)))
}

fn list(term: Term<'_>) -> Option<Listing> {
    let lists = [
        (atoms::tools(), Listing::Tools),
        (atoms::resources(), Listing::Resources),
        (atoms::prompts(), Listing::Prompts),
    ];
    lists
        .into_iter()
        .find_map(|(name, list)| (name == term).then_some(list))
}

fn text<'a>(bytes: &'a Binary<'_>) -> NifResult<&'a str> {
    str::from_utf8(bytes.as_slice()).map_err(|_| rustler::Error::BadArg)
}
