//! One stream of changes, as its client reads it.

use std::{fmt, sync::Arc};

use crate::{
    change::{Change, Filter},
    encode::Members,
    event::{self, EventId, StreamKind},
    meta,
    notice::Framing,
    principal::Principal,
    question::Scope,
    request_id::{IdKey, RequestId},
    revision::Revision,
};

/// Who hears of which changes, and in what words.
pub struct Subscription {
    /// What the client hears of.
    pub filter: Filter,
    /// Whom it counts against.
    pub principal: Option<Principal>,
    /// What it is found by.
    pub owner: Owner,
    /// Where an earlier stream of a legacy session broke off, by its `Last-Event-ID`.
    pub resumes: Option<EventId>,
    pub(crate) wording: Wording,
}

/// What a subscription is found by, to be ended or changed from elsewhere.
#[derive(Clone, Eq, Hash, PartialEq)]
pub enum Owner {
    /// Nothing: it ends with its connection.
    Connection,
    /// A request of a pipe, which may be cancelled by its id.
    Request(Scope, IdKey),
    /// A legacy session, which has one at a time.
    Session(Scope),
}

/// How changes are told.
#[derive(Clone, Debug)]
pub(crate) enum Wording {
    /// Under the id of a `subscriptions/listen` request (META-11).
    Listen { id: RequestId, framing: Framing },
    /// As events of a legacy session's stream, which have ids of their own (LHT-30).
    Standing(Revision),
    /// As lines of a legacy pipe.
    Lines,
}

impl Subscription {
    /// The stream of a call that is to be gone on with instead: whose it is, and where it broke off.
    pub fn resumed_call(&self) -> Option<(&Scope, &EventId)> {
        match (&self.owner, &self.resumes) {
            (Owner::Session(scope), Some(place)) if place.kind == StreamKind::Post => {
                Some((scope, place))
            }
            _ => None,
        }
    }

    /// What goes out before any change: the acknowledgement (SUB-3), or what primes a stream that can be resumed, with
    /// how long to wait before that (LHT-10, LHT-12). `place` is where the stream begins.
    pub fn opening(&self, place: &EventId) -> Option<Vec<u8>> {
        match &self.wording {
            Wording::Listen { id, framing } => {
                let message = acknowledgement(id, &self.filter);
                Some(framing.frame(message))
            }
            Wording::Standing(Revision::R20251125) => Some(place.priming()),
            Wording::Standing(_) | Wording::Lines => None,
        }
    }

    /// A change, told to this client. `place` is where its event stands in a stream that can be resumed.
    pub fn tell(&self, change: &Change, place: &EventId) -> Vec<u8> {
        match &self.wording {
            Wording::Listen { id, framing } => framing.frame(notification(change, Some(id))),
            Wording::Standing(_) => place.mark(&event::event(&notification(change, None))),
            Wording::Lines => notification(change, None),
        }
    }

    /// Whether its events have places that a later stream may go on from.
    pub fn is_resumable(&self) -> bool {
        matches!(self.wording, Wording::Standing(_))
    }

    /// What follows the result of a `subscriptions/listen` request on a pipe: the sign that its stream is closed
    /// (reading A-6).
    pub fn farewell(&self) -> Option<Vec<u8>> {
        match &self.wording {
            Wording::Listen {
                id,
                framing: Framing::Line,
            } => Some(cancelled(id)),
            _ => None,
        }
    }

    /// The changes that a legacy client on a pipe hears of.
    pub(crate) fn lines(pipe: u64, filter: Filter, principal: Option<Principal>) -> Self {
        Self {
            filter,
            principal,
            owner: Owner::Session(Scope::Pipe(pipe)),
            resumes: None,
            wording: Wording::Lines,
        }
    }
}

/// The honoured subset: what is left out is not supported (SUB-4), an empty one stays open.
fn acknowledgement(id: &RequestId, filter: &Filter) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    let mut message = Members::open(&mut out);
    message
        .raw("jsonrpc", "\"2.0\"")
        .string("method", "notifications/subscriptions/acknowledged");
    let mut params = message.object("params");
    write_id(&mut params, id);
    let mut honoured = params.object("notifications");
    for list in filter.lists() {
        honoured.raw(list.filter_member(), "true");
    }
    if !filter.uris.is_empty() {
        let uris: Vec<&Arc<str>> = filter.uris.iter().collect();
        honoured.strings("resourceSubscriptions", &uris);
    }
    honoured.close();
    params.close();
    message.close();
    out
}

/// A legacy client's notification of a list has no parameters at all.
fn notification(change: &Change, id: Option<&RequestId>) -> Vec<u8> {
    let mut out = Vec::with_capacity(192);
    let mut message = Members::open(&mut out);
    message
        .raw("jsonrpc", "\"2.0\"")
        .string("method", change.method());
    if id.is_some() || matches!(change, Change::Resource(_)) {
        let mut params = message.object("params");
        if let Change::Resource(uri) = change {
            params.string("uri", uri);
        }
        if let Some(id) = id {
            write_id(&mut params, id);
        }
        params.close();
    }
    message.close();
    out
}

fn cancelled(id: &RequestId) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    let mut message = Members::open(&mut out);
    message
        .raw("jsonrpc", "\"2.0\"")
        .string("method", "notifications/cancelled");
    let mut params = message.object("params");
    params
        .raw("requestId", id.raw())
        .string("reason", "The server ended the subscription");
    params.close();
    message.close();
    out
}

/// The id byte for byte as the client wrote it.
fn write_id(params: &mut Members<'_>, id: &RequestId) {
    params.raw("_meta", subscription_meta(id));
}

/// `_meta` that names a subscription.
pub(crate) fn subscription_meta(id: &RequestId) -> Vec<u8> {
    let mut out = Vec::with_capacity(96);
    let mut members = Members::open(&mut out);
    members.raw(meta::SUBSCRIPTION_ID, id.raw());
    members.close();
    out
}

/// Shows what is asked for, not by whom.
impl fmt::Debug for Subscription {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Subscription")
            .field("filter", &self.filter)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

/// Shows the scope.
impl fmt::Debug for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection => out.write_str("Connection"),
            Self::Request(scope, _) => write!(out, "Request({scope:?})"),
            Self::Session(scope) => write!(out, "Session({scope:?})"),
        }
    }
}
