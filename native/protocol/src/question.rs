//! What the core asks of its driver, and what it is told.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use mcp_auth::{Accepted, Binding, Inquiry, Reason, Scheme, SignIn, Verified};
use mcp_json::NodeId;
use mcp_schema::{Faults, Schema};

use crate::{
    call::Call,
    catalog::{Catalog, Selection, Sieve},
    context::RequestContext,
    error::Error,
    exchange::Request,
    head::RequestHead,
    http::Headers,
    inquiry::ClientResponse,
    method::Method,
    offer::{Offer, OfferKind, Permission},
    outcome::{CallOutcome, ToolResult},
    principal::Identity,
    relay::Relay,
    request_id::IdKey,
    session::{SessionAnswer, SessionAsk},
    task::{TaskAnswer, TaskAsk},
};

/// One thing that only the driver, the host or a store knows.
#[derive(Debug)]
pub struct Question {
    /// What is asked.
    pub ask: Ask,
    /// How long the answer may take; past it the driver resumes with [`Unanswered::Deadline`].
    pub timeout_ms: u64,
}

/// The kinds of question.
pub enum Ask {
    /// Run the host's `authorize` hook.
    Authorize {
        /// [`Endpoint::hook`](crate::Endpoint::hook)
        hook: u64,
        /// The request that wants in.
        head: Arc<RequestHead>,
    },
    /// Check the access token of this request. Answered by the driver itself.
    Guard(Arc<RequestHead>),
    /// Have newer keys of an issuer, if they are to be had. Answered with [`Input::Done`] once nothing newer is there.
    Keys {
        /// [`Endpoint::hook`](crate::Endpoint::hook)
        hook: u64,
        /// Which of the configured issuers.
        issuer: usize,
    },
    /// Have an issuer asked about a token. Answered with [`Input::Done`] once its answer is known.
    Introspect {
        /// [`Endpoint::hook`](crate::Endpoint::hook)
        hook: u64,
        /// What it is asked.
        inquiry: Inquiry,
    },
    /// Settle what only the host knows of a sender whose token is right: revocation, principal, whether this endpoint
    /// is theirs, and whether the proof was seen before, in this order.
    Settle {
        /// [`Endpoint::hook`](crate::Endpoint::hook)
        hook: u64,
        /// The request that wants in.
        head: Arc<RequestHead>,
        /// What its token says and what it must not have used before.
        accepted: Arc<Accepted>,
        /// What the issuer is asked first, of a sender that was let in before by what it said.
        inquiry: Option<Inquiry>,
    },
    /// Run the host's `authorize_body` hook over the bytes exactly as received.
    AuthorizeBody {
        /// [`Endpoint::hook`](crate::Endpoint::hook)
        hook: u64,
        /// The request that wants in.
        head: Arc<RequestHead>,
        /// Its body.
        body: Bytes,
    },
    /// Create, look up or end a legacy session.
    Session(SessionAsk),
    /// See, answer or end a task.
    Task(Box<TaskAsk>),
    /// The definitions that this caller sees (`capabilities/1`).
    Catalog(Box<RequestContext>),
    /// Whether the caller may use a definition, answered with [`Input::Permission`].
    Permit(Box<PermitAsk>),
    /// Which of the definitions that pass by scopes the caller sees in a list, answered with [`Input::Sifted`].
    Sift {
        /// The request for the list.
        context: Box<RequestContext>,
        /// What is listed.
        kind: OfferKind,
        /// What the definitions are known by, in their order.
        names: Vec<Box<str>>,
    },
    /// Run a definition's handler.
    Call(Box<Call>),
    /// Cancel calls in flight. Answered by the driver itself with [`Input::Done`], or with [`Input::Nobody`] where there is
    /// none.
    Cancel {
        /// Where request ids are told apart.
        scope: Scope,
        /// The request to cancel; `None` for all of the scope.
        request: Option<IdKey>,
    },
    /// Hand a response of the client's to the call that asked for it. Answered by the driver itself with
    /// [`Input::Done`], or with [`Input::Nobody`] where there is none.
    Hear {
        /// Where ids are told apart.
        scope: Scope,
        /// What came.
        response: ClientResponse,
    },
    /// Have the other nodes look for the call that a message is for. Answered with [`Input::Done`] whether one has it or
    /// not.
    Relay(Relay),
}

/// One definition of which only the host can say whether the caller may use it.
#[derive(Debug)]
pub struct PermitAsk {
    /// The request that names it.
    pub context: RequestContext,
    /// What it names. Nothing may have that name: it is asked about all the same.
    pub offer: Offer,
    /// Whether the host is asked too which sign-in it takes.
    pub steps_up: bool,
}

/// Within which requests an id is unique, and reachable for a cancellation (CAN-9) or a response.
#[derive(Clone, Eq, Hash, PartialEq)]
pub enum Scope {
    /// A stdio pipe, by its driver's number.
    Pipe(u64),
    /// A legacy session, by its id.
    Session(Arc<str>),
}

/// What a driver feeds an exchange.
pub enum Input {
    /// The whole body.
    Body(Bytes),
    /// The body could not be had.
    BodyFault(BodyFault),
    /// `authorize` or `authorize_body` decided.
    Authorized(Authorized),
    /// A session store answered.
    Session(SessionAnswer),
    /// What became of a question about tasks.
    Task(TaskAnswer),
    /// The caller's definitions.
    Catalog(Arc<Catalog>),
    /// What the host says of a definition.
    Permission(Permission),
    /// For each definition that was asked about 1 where the caller sees it, 0 where not.
    Sifted(Vec<u8>),
    /// A handler ended.
    Outcome(CallOutcome),
    /// A computation ended.
    Computed(Computed),
    /// The driver did what needed no answer.
    Done,
    /// There was nobody to do it to.
    Nobody,
    /// No answer came.
    Unanswered(Unanswered),
}

/// What a hook decided.
pub enum Authorized {
    /// Go on as this caller; `None` from a hook that names nobody.
    Accept(Option<Identity>),
    /// Refused for good: 403, neutral.
    Deny,
    /// Credentials are needed: 401 with this `WWW-Authenticate` value.
    Challenge(String),
    /// The access token is right, and for how long.
    Grant(Box<Grant>),
    /// The access token is not right, or the host says no: this answer, with these headers.
    Refuse(Error, Headers),
    /// [`Ask::Settle`] found nothing against the sender; whose principal is who the token names.
    Settled,
    /// [`Ask::Settle`] found this against the sender.
    Unsettled(Reason),
}

/// What an access token opens.
#[derive(Debug)]
pub struct Grant {
    /// Whose it is.
    pub identity: Identity,
    /// From when on it opens nothing, in milliseconds of the wall clock: a stream ends then.
    pub ends_ms: u64,
    /// Headers of the answer, whatever it is.
    pub headers: Headers,
    /// What [`Ask::Settle`] is to be asked with again while a stream is open, without the proof that was claimed; none
    /// where neither the host nor the issuer has anything to say.
    pub again: Option<Arc<Accepted>>,
    /// What a challenge is about, should the scopes not suffice.
    pub resource: Arc<mcp_auth::Config>,
    /// The scheme of such a challenge.
    pub scheme: Scheme,
    /// What the access token says and what ties it to its sender, for records.
    pub token: Option<(Verified, Binding)>,
    /// How and when the user signed in.
    pub sign_in: SignIn,
}

/// Why a body did not arrive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BodyFault {
    /// Larger than asked for.
    TooLarge,
    /// Too slow: it was not there after so long.
    Timeout {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// The instance holds as many bytes as it may.
    NoRoom,
    /// The peer broke the framing or left.
    Broken,
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unanswered {
    /// The deadline passed.
    Deadline,
    /// The host's hook, store or handler process failed.
    Failed,
    /// As many calls or subscriptions as the instance allows are in flight.
    Busy(Limit),
    /// As many of them as one principal may have are in flight.
    PrincipalBusy(Limit),
    /// The instance is draining.
    Draining,
    /// The instance holds as many bytes as it may, so that there is no room for what is to be answered.
    NoRoom,
    /// The stream of a call that was to be resumed is not kept, or not from that place on.
    StreamGone,
    /// Another request with this id is in flight in the same scope.
    DuplicateId,
    /// The request was cancelled.
    Cancelled,
}

/// An option that says how many there may be, and how many it says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit {
    /// Its name.
    pub option: &'static str,
    /// Its value.
    pub allowed: usize,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.option, self.allowed)
    }
}

/// Pure work too long for a thread that serves sockets: run it elsewhere and resume with what it returns.
pub struct Computation(pub(crate) Work);

/// What a [`Computation`] found, with what it was given.
pub struct Computed(pub(crate) Found);

pub(crate) enum Work {
    /// Hold an instance against a schema.
    Check(Arc<Schema>, Instance),
    /// Digest the lists of a catalog, each at most once.
    Digest(Arc<Catalog>),
    /// Choose the rows that a caller sees of the list of a method.
    Select(Arc<Catalog>, Method, Sieve),
}

pub(crate) enum Found {
    Checked(Instance, Result<(), Faults>),
    Digested,
    Selected(Selection),
}

/// A JSON value to validate, with what it lies in.
pub(crate) enum Instance {
    /// The arguments of a call, at this place of the request's message.
    Arguments(Box<Request>, NodeId),
    /// A result of the host's, encoded by us.
    Result(ToolResult),
}

/// Larger instances are validated off the thread that serves sockets.
pub(crate) const LARGE_INSTANCE_BYTES: usize = 64 * 1_024;

impl Computation {
    /// Does the work: for an instance in proportion to its size, for a catalog to the number of its definitions.
    pub fn run(self) -> Computed {
        Computed(match self.0 {
            Work::Check(schema, instance) => {
                let result = instance.check(&schema);
                Found::Checked(instance, result)
            }
            Work::Digest(catalog) => {
                catalog.digest_lists();
                Found::Digested
            }
            Work::Select(catalog, method, sieve) => Found::Selected(catalog.select(method, &sieve)),
        })
    }
}

impl Instance {
    fn check(&self, schema: &Schema) -> Result<(), Faults> {
        match self {
            Self::Arguments(request, node) => schema.check_node(request.document.node(*node)),
            Self::Result(result) => result.check(schema),
        }
    }
}

/// Shows what is asked and how large it is: heads, bodies and arguments are the client's.
impl fmt::Debug for Ask {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authorize { hook, .. } => write!(out, "Authorize({hook})"),
            Self::Guard(_) => out.write_str("Guard"),
            Self::Keys { hook, issuer } => write!(out, "Keys({hook}, {issuer})"),
            Self::Introspect { hook, .. } => write!(out, "Introspect({hook})"),
            Self::Settle { hook, .. } => write!(out, "Settle({hook})"),
            Self::AuthorizeBody { hook, body, .. } => {
                write!(out, "AuthorizeBody({hook}, {} bytes)", body.len())
            }
            Self::Session(ask) => ask.fmt(out),
            Self::Task(ask) => ask.fmt(out),
            Self::Catalog(context) => write!(out, "Catalog({context:?})"),
            Self::Permit(ask) => write!(out, "Permit({:?})", ask.offer),
            Self::Sift { kind, names, .. } => write!(out, "Sift({} of {kind:?})", names.len()),
            Self::Call(call) => call.fmt(out),
            Self::Relay(relay) => relay.fmt(out),
            Self::Hear { scope, response } => {
                write!(out, "Hear({} bytes of {scope:?})", response.bytes())
            }
            Self::Cancel { scope, request } => {
                let what = if request.is_some() { "one" } else { "all" };
                write!(out, "Cancel({what} of {scope:?})")
            }
        }
    }
}

/// Shows a pipe's number; a session's id is a secret.
impl fmt::Debug for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipe(number) => write!(out, "Pipe({number})"),
            Self::Session(_) => out.write_str("Session(..)"),
        }
    }
}

/// Shows what came and how large it is.
impl fmt::Debug for Input {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(bytes) => write!(out, "Body({} bytes)", bytes.len()),
            Self::BodyFault(fault) => fault.fmt(out),
            Self::Authorized(decision) => decision.fmt(out),
            Self::Session(answer) => answer.fmt(out),
            Self::Task(answer) => answer.fmt(out),
            Self::Catalog(catalog) => catalog.fmt(out),
            Self::Permission(permission) => permission.fmt(out),
            Self::Sifted(verdicts) => write!(out, "Sifted({})", verdicts.len()),
            Self::Outcome(outcome) => outcome.fmt(out),
            Self::Computed(computed) => computed.fmt(out),
            Self::Done => out.write_str("Done"),
            Self::Nobody => out.write_str("Nobody"),
            Self::Unanswered(why) => why.fmt(out),
        }
    }
}

/// Shows the decision without the caller.
impl fmt::Debug for Authorized {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Accept(None) => "Accept",
            Self::Accept(Some(_)) => "Accept(..)",
            Self::Deny => "Deny",
            Self::Challenge(_) => "Challenge(..)",
            Self::Grant(_) => "Grant(..)",
            Self::Refuse(error, _) => error.word,
            Self::Settled => "Settled",
            Self::Unsettled(reason) => reason.word(),
        })
    }
}

/// Shows what is to be done.
impl fmt::Debug for Computation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.0 {
            Work::Check(..) => "Computation(check)",
            Work::Digest(_) => "Computation(digest)",
            Work::Select(..) => "Computation(select)",
        })
    }
}

/// Shows what was done.
impl fmt::Debug for Computed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match &self.0 {
            Found::Checked(_, Ok(())) => "Computed(valid)",
            Found::Checked(_, Err(_)) => "Computed(invalid)",
            Found::Digested => "Computed(digest)",
            Found::Selected(_) => "Computed(select)",
        })
    }
}
