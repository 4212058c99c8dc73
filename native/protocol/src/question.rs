//! What the core asks of its driver, and what it is told.

use std::sync::Arc;

use bytes::Bytes;
use mcp_json::NodeId;
use mcp_schema::{Faults, Schema};

use crate::{
    call::{Call, CallOutcome, ToolResult},
    catalog::Catalog,
    context::RequestContext,
    exchange::Request,
    head::RequestHead,
    principal::Identity,
    request_id::IdKey,
    session::{SessionAnswer, SessionAsk},
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
#[derive(Debug)]
pub enum Ask {
    /// Read the request's body, at most so many bytes. Answered by the driver itself.
    Body {
        /// The largest body that is read.
        max_bytes: usize,
    },
    /// Run the host's `authorize` hook.
    Authorize {
        /// [`Endpoint::hook`](crate::Endpoint::hook)
        hook: u64,
        /// The request that wants in.
        head: Arc<RequestHead>,
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
    /// The definitions that this caller sees (`capabilities/1`).
    Catalog(Box<RequestContext>),
    /// Run a definition's handler.
    Call(Box<Call>),
    /// Cancel a call in flight. Answered by the driver itself with [`Input::Done`].
    Cancel {
        /// Where request ids are told apart.
        scope: Scope,
        /// The request to cancel; `None` for all of the scope.
        request: Option<IdKey>,
    },
}

/// Within which requests an id is unique, and reachable for a cancellation (CAN-9).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Scope {
    /// A stdio pipe, by its driver's number.
    Pipe(u64),
    /// A legacy session, by its id.
    Session(Arc<str>),
}

/// What a driver feeds an exchange.
#[derive(Debug)]
pub enum Input {
    /// The whole body.
    Body(Bytes),
    /// The body could not be had.
    BodyFault(BodyFault),
    /// `authorize` or `authorize_body` decided.
    Authorized(Authorized),
    /// A session store answered.
    Session(SessionAnswer),
    /// The caller's definitions.
    Catalog(Arc<Catalog>),
    /// A handler ended.
    Outcome(CallOutcome),
    /// A computation ended.
    Computed(Computed),
    /// The driver did what needed no answer.
    Done,
    /// No answer came.
    Unanswered(Unanswered),
}

/// What a hook decided.
#[derive(Debug)]
pub enum Authorized {
    /// Go on as this caller; `None` from a hook that names nobody.
    Accept(Option<Identity>),
    /// Refused for good: 403, neutral.
    Deny,
    /// Credentials are needed: 401 with this `WWW-Authenticate` value.
    Challenge(String),
}

/// Why a body did not arrive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BodyFault {
    /// Larger than asked for.
    TooLarge,
    /// Too slow.
    Timeout,
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
    /// As many calls as the instance allows are in flight.
    Busy,
    /// As many calls as one principal may have are in flight.
    PrincipalBusy,
    /// The instance is draining.
    Draining,
    /// Another request with this id is in flight in the same scope.
    DuplicateId,
    /// The request was cancelled.
    Cancelled,
}

/// Pure work too long for a thread that serves sockets: run it elsewhere and resume with what it returns.
#[derive(Debug)]
pub struct Computation {
    pub(crate) schema: Arc<Schema>,
    pub(crate) instance: Instance,
}

/// What a [`Computation`] found, with the instance it was given.
#[derive(Debug)]
pub struct Computed {
    pub(crate) instance: Instance,
    pub(crate) result: Result<(), Faults>,
}

/// A JSON value to validate, with what it lies in.
#[derive(Debug)]
pub(crate) enum Instance {
    /// The arguments of a call, at this place of the request's message.
    Arguments(Box<Request>, NodeId),
    /// A result of the host's, encoded by us.
    Result(ToolResult),
}

/// Larger instances are validated off the thread that serves sockets.
pub(crate) const LARGE_INSTANCE_BYTES: usize = 64 * 1_024;

impl Computation {
    /// Validates. Costs time in proportion to the instance.
    pub fn run(self) -> Computed {
        Computed {
            result: self.instance.check(&self.schema),
            instance: self.instance,
        }
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
