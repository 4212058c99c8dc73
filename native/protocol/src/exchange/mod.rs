//! One HTTP request or one line of a pipe, from its arrival to its answer.
//!
//! [`Exchange`] is a state machine: each [`Step`] it returns is something for the driver to do, each [`Input`] what
//! came of it. The stages follow table 0.7 of the requirements. Nothing here blocks, reads a clock, or keeps anything
//! beyond the exchange.

mod answer;
mod arrival;
mod call;
mod completion;
mod delivery;
mod era;
mod hint;
mod input;
mod legacy;
mod list;
mod listen;
mod logging;
mod named;
mod pacing;
mod permit;
mod prompt;
mod record;
mod relay;
mod resource;
mod scope;
mod serve;
mod stream;
mod subscribe;
mod task;
mod tool;
mod unanswered;

pub(crate) use self::era::cancelled_request;

use std::{borrow::Cow, fmt, mem, sync::Arc};

use bytes::Bytes;
use listen::Listener;
use mcp_auth::{Accepted, Binding, Scheme, SignIn, Verified};
use mcp_json::{Document, Node, NodeId};

use crate::{
    call::Target,
    catalog::{Catalog, Tool},
    config::{Endpoint, Shared},
    context::{Client, RequestContext},
    envelope::{Envelope, Incoming},
    error::{Code, Error},
    head::RequestHead,
    http::{self, Accepts, Verb},
    inquiry::Inputs,
    meta::RequestMeta,
    method::Method,
    methods::params::Params,
    offer::Permission,
    principal::Identity,
    question::{Ask, Input, Question, Scope, Unanswered},
    relay::Relay,
    request_id::{IdKey, RequestId},
    revision::{Era, Revision},
    session::Session,
    step::{Delivery, Step, Summary},
    subscription::Subscription,
    task::TaskAnswer,
    time::Now,
    verdict::Verdict,
    word,
};

/// The state of one exchange.
pub struct Exchange {
    shared: Arc<Shared>,
    /// The caller's own, in place of the snapshot that the exchange started with.
    own_catalog: Option<Arc<Catalog>>,
    carrier: Carrier,
    identity: Option<Identity>,
    /// What the access token said beside that.
    granted: Option<Granted>,
    /// The id to echo, once read.
    id: Option<RequestId>,
    /// How a cancellation on the same pipe names the request.
    cancel_id: Option<IdKey>,
    /// Whether the message is one that gets no answer.
    silent: bool,
    /// Whether nothing of the request is left on the wire.
    body_read: bool,
    /// Whether the response has begun, as an event stream.
    streaming: bool,
    /// The session whose client may resume the stream of the call that is awaited.
    resumable: Option<Arc<str>>,
    /// Who listens, as the host is to see it before a change goes out.
    hearer: Option<Box<RequestContext>>,
    stage: Stage,
    summary: Summary,
    opened: Option<Session>,
    /// Decisions that nobody was told of yet: over the sender, and over what it asks for.
    verdicts: Vec<Verdict>,
}

/// One line of a pipe.
pub enum Line {
    /// A whole line, without its end.
    Whole(Bytes),
    /// The start of a line longer than the limit.
    TooLong {
        /// What was kept.
        prefix: Bytes,
        /// The limit in bytes.
        limit: usize,
    },
}

/// What a pipe carries from line to line.
#[derive(Clone, Debug)]
pub struct Pipe {
    /// Tells this pipe from others of the instance.
    pub number: u64,
    /// The legacy session that `initialize` opened on it.
    pub session: Option<Session>,
    /// Who is at the other end, when the launcher said so.
    pub identity: Option<Identity>,
}

impl Pipe {
    /// What the client of a pipe hears of once `initialize` opened a session on it, and the exchange that says of each
    /// change whether it may.
    pub fn subscription(&self, shared: &Arc<Shared>) -> Option<(Box<Exchange>, Subscription)> {
        let session = self.session.as_ref()?;
        let carrier = Carrier::Pipe {
            number: self.number,
            session: None,
        };
        let mut exchange = Exchange::new(Arc::clone(shared), carrier, self.identity.clone());
        let filter = listen::session_filter(&shared.config, &shared.catalog, session);
        let filter = exchange.permitted_filter(filter);
        exchange.hearer = exchange.hearer_of(|| exchange.standing_context(None, session));
        exchange.let_go_of_catalog();
        exchange.stage = Stage::Listening(Listener::Pipe);
        let principal = session.principal.clone();
        let subscription = Subscription::lines(self.number, filter, principal);
        Some((exchange, subscription))
    }
}

/// What is kept of an access token that is right.
struct Granted {
    /// From when on it opens nothing.
    ends_ms: u64,
    /// Headers of the answer.
    headers: http::Headers,
    /// What the host is asked again while a stream is open.
    again: Option<Arc<Accepted>>,
    /// What a challenge is about, and in which scheme it is.
    resource: Arc<mcp_auth::Config>,
    scheme: Scheme,
    token: Option<(Verified, Binding)>,
    sign_in: SignIn,
}

enum Carrier {
    Http {
        endpoint: Arc<Endpoint>,
        head: Arc<RequestHead>,
        accepts: Accepts,
    },
    Pipe {
        number: u64,
        session: Option<Session>,
    },
}

/// What the exchange waits for.
enum Stage {
    Authorizing(Verb),
    ReadingBody,
    AuthorizingBody(Bytes),
    FindingSession(Arc<str>, Arc<Document>, Envelope),
    FindingSessionToEnd(Arc<str>),
    EndingSession(Arc<str>),
    EndingCalls,
    CreatingSession(Session),
    SettingLogLevel(Reply),
    Subscribing(Reply),
    FindingSessionToHear(Arc<str>),
    AskingTask(Reply),
    FindingOwnTasks(Box<Subscription>, Listener),
    Listening(Listener),
    FindingTask(Listener),
    Reauthorizing(Listener),
    RecheckingSession(Listener),
    LoadingHearersCatalog(Listener, Arc<str>),
    PermittingChange(Listener),
    LoadingCatalog(Box<Request>),
    /// The host is asked about the definition, which may be hidden already.
    Permitting(Box<Request>, bool),
    DigestingList(Box<Request>),
    /// Whether nothing is left to be asked about the rows.
    SelectingRows(Box<Request>, bool),
    Sifting(Box<Request>),
    CheckingArguments(Arc<Tool>),
    Calling(Reply, Target),
    CheckingResult(Reply),
    /// A call is looked for, here first.
    Reaching(Option<Relay>),
    Relaying,
    Over,
}

/// A request whose era, revision and method are settled.
pub(crate) struct Request {
    pub(crate) document: Arc<Document>,
    params: Option<NodeId>,
    meta: RequestMeta,
    method: Method,
    revision: Revision,
    client: Client,
    /// How a cancellation from elsewhere names it.
    cancel_key: Option<(Scope, IdKey)>,
    session: Option<Arc<str>>,
    id: RequestId,
    /// What it brings along to a call that asked for it.
    inputs: Option<Box<Inputs>>,
}

/// What a request brings along beside its message.
struct Sender {
    client: Client,
    /// Where its id is told apart from others, for cancellations from elsewhere.
    scope: Option<Scope>,
    session: Option<Arc<str>>,
}

/// What is left of a request once its message went to the handler.
struct Reply {
    id: RequestId,
    revision: Revision,
}

impl Exchange {
    /// Begins with the head of an HTTP request.
    pub fn http(
        shared: Arc<Shared>,
        endpoint: Arc<Endpoint>,
        head: RequestHead,
    ) -> (Box<Self>, Step) {
        let carrier = Carrier::Http {
            endpoint,
            head: Arc::new(head),
            accepts: Accepts {
                json: true,
                event_stream: true,
            },
        };
        let mut exchange = Self::new(shared, carrier, None);
        let step = exchange.arrive();
        (exchange, step)
    }

    /// Begins with a line of a pipe.
    pub fn line(shared: Arc<Shared>, now: Now, line: Line, pipe: &Pipe) -> (Box<Self>, Step) {
        let carrier = Carrier::Pipe {
            number: pipe.number,
            session: pipe.session.clone(),
        };
        let mut exchange = Self::new(shared, carrier, pipe.identity.clone());
        exchange.body_read = true;
        let step = match line {
            Line::Whole(bytes) => exchange.decode(now, bytes),
            Line::TooLong { prefix, limit } => exchange.refuse_long_line(&prefix, limit),
        };
        (exchange, step)
    }

    /// Goes on with what came of the last step.
    pub fn resume(&mut self, now: Now, input: Input) -> Step {
        match (mem::replace(&mut self.stage, Stage::Over), input) {
            (Stage::Authorizing(verb), Input::Authorized(decision)) => {
                self.authorized(now, verb, decision)
            }
            (Stage::ReadingBody, Input::Body(bytes)) => self.body(now, bytes),
            (Stage::ReadingBody, Input::BodyFault(fault)) => self.refuse_body(fault),
            (Stage::AuthorizingBody(bytes), Input::Authorized(decision)) => {
                self.body_authorized(now, bytes, decision)
            }
            (Stage::FindingSession(id, document, envelope), Input::Session(found)) => {
                self.session_found(now, id, document, envelope, found)
            }
            (Stage::FindingSessionToEnd(id), Input::Session(found)) => self.end_session(id, found),
            (Stage::EndingSession(id), Input::Session(_)) => self.end_calls(id),
            (Stage::EndingCalls, Input::Done | Input::Nobody) => self.plain(204),
            (Stage::CreatingSession(session), Input::Session(answer)) => {
                self.session_created(&session, answer)
            }
            (Stage::SettingLogLevel(reply), Input::Session(answer)) => {
                self.log_level_set(&reply, &answer)
            }
            (Stage::Subscribing(reply), Input::Session(answer)) => self.subscribed(&reply, &answer),
            (Stage::FindingSessionToHear(id), Input::Session(found)) => {
                self.hear_session(now, id, found)
            }
            (Stage::AskingTask(reply), Input::Task(answer)) => self.task_answered(&reply, answer),
            (Stage::FindingOwnTasks(subscription, listener), Input::Task(answer)) => {
                self.own_tasks_found(*subscription, listener, answer)
            }
            (Stage::FindingTask(listener), Input::Task(answer)) => {
                self.task_found(listener, answer)
            }
            (Stage::FindingTask(listener), Input::Unanswered(_)) => {
                self.task_found(listener, TaskAnswer::Unknown)
            }
            (Stage::Listening(listener), Input::Done) => self.end_listening(&listener),
            (Stage::Listening(listener), Input::Unanswered(why)) => {
                self.not_listening(now, &listener, why)
            }
            (
                Stage::Reauthorizing(listener),
                decision @ (Input::Authorized(_) | Input::Unanswered(_)),
            ) => self.reauthorized(listener, &decision),
            (Stage::RecheckingSession(listener), Input::Session(found)) => {
                self.session_rechecked(listener, found)
            }
            (Stage::LoadingHearersCatalog(listener, uri), Input::Catalog(catalog)) => {
                self.hearers_catalog_loaded(now, listener, &uri, &catalog)
            }
            (Stage::PermittingChange(listener), Input::Permission(permission)) => {
                self.change_permitted(listener, &permission)
            }
            (
                Stage::LoadingHearersCatalog(listener, _) | Stage::PermittingChange(listener),
                Input::Unanswered(Unanswered::Failed | Unanswered::Deadline),
            ) => self.deliver(listener, Delivery::Withheld),
            (
                Stage::RecheckingSession(listener)
                | Stage::LoadingHearersCatalog(listener, _)
                | Stage::PermittingChange(listener),
                Input::Unanswered(_),
            ) => self.deliver(listener, Delivery::Later),
            (Stage::LoadingCatalog(request), Input::Catalog(catalog)) => {
                self.own_catalog = Some(catalog);
                self.admit(now, *request)
            }
            (Stage::Permitting(request, hides), Input::Permission(permission)) => {
                self.permitted(now, *request, hides, &permission)
            }
            (Stage::DigestingList(request), Input::Computed(_)) => self.list_digested(*request),
            (Stage::SelectingRows(request, is_final), Input::Computed(computed)) => {
                self.rows_selected(now, *request, is_final, computed)
            }
            (Stage::Sifting(request), Input::Sifted(verdicts)) => {
                self.sifted(now, *request, verdicts)
            }
            (Stage::CheckingArguments(tool), Input::Computed(computed)) => {
                self.arguments_computed(now, tool, computed)
            }
            (Stage::Calling(reply, target), Input::Outcome(outcome)) => {
                self.called(now, reply, &target, outcome)
            }
            (Stage::CheckingResult(reply), Input::Computed(computed)) => {
                self.result_computed(&reply, computed)
            }
            (Stage::Reaching(_) | Stage::Relaying, Input::Done) => self.accepted(),
            (Stage::Reaching(relay), Input::Nobody) => self.reached_nobody(relay),
            (Stage::Calling(reply, target), Input::Unanswered(why)) => {
                self.call_unanswered(now, &reply, &target, why)
            }
            (Stage::CheckingResult(reply), Input::Unanswered(_)) => self.host_failed(&reply, None),
            // What the host does not permit in time, or fails over, it denies.
            (
                Stage::Permitting(request, _),
                Input::Unanswered(Unanswered::Failed | Unanswered::Deadline),
            ) => self.permitted(now, *request, true, &Permission::Denied),
            (
                Stage::Sifting(request),
                Input::Unanswered(Unanswered::Failed | Unanswered::Deadline),
            ) => self.sifted(now, *request, Vec::new()),
            (stage, Input::Unanswered(why)) => self.unanswered(&stage, why),
            (_, _) => {
                let message = "The server lost track of this request";
                self.refuse(internal(word::DRIVER, message).with_status(500))
            }
        }
    }

    /// Whether the call that is awaited goes on when its connection ends: a disconnect cancels a modern request
    /// (HTTP-21) and is none of a legacy one's business (LHT-8).
    pub fn survives_disconnect(&self) -> bool {
        match &self.stage {
            Stage::Calling(reply, _) => reply.revision.era() == Era::Legacy,
            _ => false,
        }
    }

    /// After any step: what was decided over the caller since the last one, for records.
    pub fn take_verdicts(&mut self) -> Vec<Verdict> {
        mem::take(&mut self.verdicts)
    }

    /// After [`Exchange::line`]: the legacy session that the pipe has from now on, newly opened or changed.
    pub fn opens_session(&self) -> Option<&Session> {
        self.opened.as_ref()
    }

    /// After [`Exchange::line`]: the id by which the client may cancel this request, at whatever stage it is.
    pub fn cancel_id(&self) -> Option<&IdKey> {
        self.cancel_id.as_ref()
    }

    /// Boxed, since it is handed on from future to future.
    fn new(shared: Arc<Shared>, carrier: Carrier, identity: Option<Identity>) -> Box<Self> {
        Box::new(Self {
            shared,
            own_catalog: None,
            carrier,
            identity,
            granted: None,
            id: None,
            cancel_id: None,
            silent: false,
            body_read: false,
            streaming: false,
            resumable: None,
            hearer: None,
            stage: Stage::Over,
            summary: Summary::default(),
            opened: None,
            verdicts: Vec::new(),
        })
    }

    /// Asks and waits in `stage`.
    fn ask(&mut self, stage: Stage, ask: Ask) -> Step {
        let timeout_ms = match &ask {
            Ask::Call(call) => call.target.timeout_ms(&self.shared.config),
            _ => self.shared.config.hook_timeout_ms,
        };
        self.stage = stage;
        Step::Ask(Box::new(Question { ask, timeout_ms }))
    }

    fn catalog(&self) -> &Arc<Catalog> {
        self.own_catalog.as_ref().unwrap_or(&self.shared.catalog)
    }

    fn is_pipe(&self) -> bool {
        matches!(self.carrier, Carrier::Pipe { .. })
    }

    fn head(&self) -> Option<&Arc<RequestHead>> {
        match &self.carrier {
            Carrier::Http { head, .. } => Some(head),
            Carrier::Pipe { .. } => None,
        }
    }
}

impl Request {
    fn new(
        document: Arc<Document>,
        incoming: Incoming,
        meta: RequestMeta,
        (method, revision): (Method, Revision),
        sender: Sender,
    ) -> Self {
        let key = |scope| (scope, RequestId::key(document.node(incoming.id_node)));
        Self {
            cancel_key: sender.scope.map(key),
            document,
            params: incoming.params,
            meta,
            method,
            revision,
            client: sender.client,
            session: sender.session,
            id: incoming.id,
            inputs: None,
        }
    }

    /// The parameters, to be read with refusals in the method's name.
    fn named_params(&self) -> Params<'_> {
        Params::new(self.method, self.params())
    }

    fn params(&self) -> Option<Node<'_>> {
        self.params.map(|node| self.document.node(node))
    }

    /// Step 15 of table 0.7; a call comes to it after its param headers.
    fn check_optional_meta(&self) -> Result<(), Error> {
        self.meta.check_optional(&self.document)
    }

    fn reply(&self) -> Reply {
        Reply {
            id: self.id.clone(),
            revision: self.revision,
        }
    }
}

/// Shows how far it came: the message is the client's.
impl fmt::Debug for Exchange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Exchange({:?})", self.summary)
    }
}

/// Shows the size.
impl fmt::Debug for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(out, "Whole({} bytes)", bytes.len()),
            Self::TooLong { limit, .. } => write!(out, "TooLong(over {limit} bytes)"),
        }
    }
}

fn internal(word: &'static str, message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(Code::Internal, word, message)
}

/// The session store failed, or answered what it was not asked.
fn no_sessions() -> Error {
    internal(
        word::SESSION_STORE,
        "The server cannot reach its sessions: retry later",
    )
    .with_status(503)
}
