//! Streams of changes: `subscriptions/listen` (MCP 2026-07-28 basic/patterns/subscriptions) and the standing stream of a
//! legacy session (MCP 2025-11-25 basic/transports, "Listening for Messages from the Server").

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use mcp_json::{Kind, Node};

use super::{
    Carrier, Exchange, Reply, Request, Stage,
    answer::stream_headers,
    internal,
    legacy::{check_legacy_version, unknown_session},
    task::{needs_tasks, no_tasks},
    unanswered::busy,
};
use crate::{
    catalog::{Catalog, check_uri},
    change::{Filter, Listing, MAX_URIS, MAX_URIS_BYTES},
    config::{Config, Shared},
    context::RequestContext,
    error::{Code, Error},
    event::EventId,
    excerpt::plain_excerpt,
    head::{RequestHead, Single},
    http,
    method::Feature,
    methods::{
        capabilities::offers,
        initialize::MAX_CLIENT_BYTES,
        params::{Params, invalid, object},
    },
    notice::Framing,
    principal::Principal,
    question::{Ask, Scope, Unanswered},
    rates::Rated,
    session::{Session, SessionAnswer, SessionAsk},
    step::Step,
    subscription::{Owner, Subscription, Wording, subscription_meta},
    task::{TaskAnswer, TaskRequest},
    time::Now,
    word,
};

/// Whose stream it is.
pub(super) enum Listener {
    /// That of a `subscriptions/listen` request.
    Request(Reply),
    /// That of a legacy session.
    Session(Arc<str>),
    /// A legacy client on a pipe.
    Pipe,
}

impl Exchange {
    /// `subscriptions/listen`
    pub(super) fn listen(&mut self, now: Now, request: Request) -> Result<Step, Error> {
        if !self.is_pipe() && !self.admits_stream() {
            return Err(not_acceptable("subscriptions/listen is answered"));
        }
        let filter = read_filter(request.named_params(), &self.shared.config, self.catalog())?;
        let tasks = read_tasks(&request, &self.shared.config, self.catalog())?;
        self.hearer = self.lasting_hearer(now, &request)?;
        let reply = request.reply();
        let framing = match self.is_pipe() {
            true => Framing::Line,
            false => Framing::Event,
        };
        let wording = Wording::Listen {
            id: reply.id.clone(),
            framing,
        };
        let owner = match request.cancel_key {
            Some((scope, id)) => Owner::Request(scope, id),
            None => Owner::Connection,
        };
        let subscription = self.subscription(filter, owner, wording, None);
        let listener = Listener::Request(reply);
        if tasks.is_empty() {
            return Ok(self.begin_listening(subscription, listener));
        }
        let ask = self.task_ask(TaskRequest::Own(tasks));
        Ok(self.ask(
            Stage::FindingOwnTasks(Box::new(subscription), listener),
            ask,
        ))
    }

    /// Who the host is asked about, with no more of the request than may be kept for as long as a session is.
    fn lasting_hearer(
        &self,
        now: Now,
        request: &Request,
    ) -> Result<Option<Box<RequestContext>>, Error> {
        let meta = request.meta.node(&request.document);
        let bytes = meta.map_or(0, |meta| meta.raw().len());
        if self.asks_of_hearers() && bytes > MAX_CLIENT_BYTES {
            return Err(invalid(format!(
                "\"params._meta\" takes {bytes} bytes: at most {MAX_CLIENT_BYTES} are kept"
            )));
        }
        let limits = &self.shared.config.json;
        Ok(self.hearer_of(|| self.context(now, request, 0).lasting(limits)))
    }

    /// Which of the tasks are the caller's: the others are left out of the acknowledgement (TASK-15).
    pub(super) fn own_tasks_found(
        &mut self,
        mut subscription: Subscription,
        listener: Listener,
        answer: TaskAnswer,
    ) -> Step {
        let TaskAnswer::Own(ids) = answer else {
            return self.refuse(no_tasks());
        };
        let tasks = Arc::new(ids.into_iter().collect());
        subscription.filter = subscription.filter.with_tasks(tasks);
        self.begin_listening(subscription, listener)
    }

    /// GET: the standing stream of a legacy session (LHT-20).
    pub(super) fn hear(&mut self) -> Step {
        let Carrier::Http { head, accepts, .. } = &mut self.carrier else {
            return self.refuse(internal(word::DRIVER, "A line has no verb"));
        };
        *accepts = http::accepts(head);
        if !accepts.event_stream {
            return self.refuse(not_acceptable("GET is answered"));
        }
        let named = check_legacy_version(http::version(head)).and_then(|()| http::session_id(head));
        match named.map(|id| id.map(Arc::<str>::from)) {
            Ok(Some(id)) => {
                let ask = Ask::Session(SessionAsk::Fetch(Arc::clone(&id)));
                self.ask(Stage::FindingSessionToHear(id), ask)
            }
            Ok(None) => self.refuse(Error::new(
                Code::InvalidRequest,
                word::SESSION,
                "GET opens the stream of a session: name it in Mcp-Session-Id",
            )),
            Err(error) => self.refuse(error),
        }
    }

    pub(super) fn hear_session(&mut self, now: Now, id: Arc<str>, answer: SessionAnswer) -> Step {
        let Some(session) = self.own_session(answer) else {
            return self.refuse(unknown_session());
        };
        if let Some(refusal) = self.pace(now, Some(Rated::Subscriptions)) {
            self.note_limit(now, None, word::RATE);
            return refusal;
        }
        self.summary.revision = Some(session.revision);
        let filter = session_filter(&self.shared.config, self.catalog(), &session);
        let filter = self.permitted_filter(filter);
        self.hearer = self.hearer_of(|| self.standing_context(Some(&id), &session));
        let owner = Owner::Session(Scope::Session(Arc::clone(&id)));
        let resumes = self.head().and_then(|head| last_event(head));
        let wording = Wording::Standing(session.revision);
        let subscription = self.subscription(filter, owner, wording, resumes);
        self.begin_listening(subscription, Listener::Session(id))
    }

    fn subscription(
        &self,
        filter: Filter,
        owner: Owner,
        wording: Wording,
        resumes: Option<EventId>,
    ) -> Subscription {
        Subscription {
            filter,
            principal: self.principal().cloned(),
            owner,
            resumes,
            wording,
        }
    }

    fn begin_listening(&mut self, subscription: Subscription, listener: Listener) -> Step {
        self.let_go_of_catalog();
        self.stage = Stage::Listening(listener);
        Step::Listen(Box::new(subscription))
    }

    /// A stream may stay open for days: it keeps no catalog alive.
    pub(super) fn let_go_of_catalog(&mut self) {
        static NOTHING: LazyLock<Arc<Catalog>> = LazyLock::new(Arc::default);
        self.shared = Arc::new(Shared {
            catalog: Arc::clone(&NOTHING),
            ..(*self.shared).clone()
        });
        self.own_catalog = None;
    }

    /// The subscription could not begin: refused before it is acknowledged (SUB-17).
    pub(super) fn not_listening(&mut self, now: Now, listener: &Listener, why: Unanswered) -> Step {
        let is_own_limit = matches!(why, Unanswered::PrincipalBusy(_));
        let error = match (why, listener) {
            (Unanswered::Busy(limit) | Unanswered::PrincipalBusy(limit), Listener::Request(_)) => {
                internal(
                    word::SUBSCRIPTIONS_FULL,
                    format!(
                        "As many subscriptions are open as the server's {limit} allows: end one, or retry later"
                    ),
                )
            }
            (why, _) => busy(why),
        };
        if is_own_limit {
            let operation = self.summary.method.map(|method| (method, None));
            self.note_limit(now, operation, error.word);
        }
        self.refuse(error)
    }

    /// The server ends the stream: by the request's result (SUB-14), or without a word in the legacy era.
    pub(super) fn end_listening(&mut self, listener: &Listener) -> Step {
        match listener {
            Listener::Request(reply) => {
                let meta = subscription_meta(&reply.id);
                self.result(reply, Some(&meta), |_| ())
            }
            Listener::Session(_) | Listener::Pipe => self.end_of_stream(),
        }
    }

    pub(super) fn principal(&self) -> Option<&Principal> {
        self.identity.as_ref().map(|identity| &identity.principal)
    }

    /// The headers of a stream, before it begins.
    pub(super) fn stream_head_headers(&mut self) -> http::Headers {
        let mut headers = stream_headers();
        if let Carrier::Http { endpoint, head, .. } = &self.carrier {
            headers.extend(http::response_headers(head, endpoint));
        }
        headers.extend(self.granted_headers());
        headers
    }
}

/// What a legacy session hears of without asking: every list that is offered, and what it subscribed to.
pub(crate) fn session_filter(config: &Config, catalog: &Catalog, session: &Session) -> Filter {
    offered_lists(config, catalog)
        .fold(Filter::default(), Filter::with_list)
        .with_uris(Arc::clone(&session.subscriptions))
}

fn offered_lists(config: &Config, catalog: &Catalog) -> impl Iterator<Item = Listing> {
    Listing::ALL
        .into_iter()
        .filter(move |list| offers(Feature::of(*list), config, catalog))
}

/// What is asked for and can be honoured (SUB-1 to SUB-5).
fn read_filter(params: Params<'_>, config: &Config, catalog: &Catalog) -> Result<Filter, Error> {
    let node = params.get("notifications");
    let asked = object(node, &"params.notifications")?
        .ok_or_else(|| invalid("subscriptions/listen needs the object \"params.notifications\""))?;
    let mut filter = Filter::default();
    for list in Listing::ALL {
        if flag(asked, list.filter_member())? && offers(Feature::of(list), config, catalog) {
            filter = filter.with_list(list);
        }
    }
    let uris = read_uris(asked.get("resourceSubscriptions"))?;
    match offers(Feature::Resources, config, catalog) {
        true => Ok(filter.with_uris(Arc::new(uris))),
        false => Ok(filter),
    }
}

fn flag(filter: Node<'_>, member: &str) -> Result<bool, Error> {
    match filter.get(member).map(Node::raw) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(invalid(format!(
            "The member \"params.notifications.{member}\" must be true or false"
        ))),
    }
}

fn read_uris(node: Option<Node<'_>>) -> Result<BTreeSet<Arc<str>>, Error> {
    read_names(
        node,
        "params.notifications.resourceSubscriptions",
        checked_uri,
    )
}

/// The tasks that are asked for, of a client that takes tasks (TASK-14).
fn read_tasks(
    request: &Request,
    config: &Config,
    catalog: &Catalog,
) -> Result<Vec<Arc<str>>, Error> {
    let filter = request.named_params().get("notifications");
    let node = filter.and_then(|filter| filter.get("taskIds"));
    if node.is_none() || !offers(Feature::Tasks, config, catalog) {
        return Ok(Vec::new());
    }
    if !request.takes_tasks() {
        return Err(needs_tasks("subscriptions/listen with taskIds"));
    }
    let place = "params.notifications.taskIds";
    let ids = read_names(node, place, |id, _| Ok(Arc::from(id)))?;
    Ok(ids.into_iter().collect())
}

/// An array of different strings, as many and as long as one subscription may name.
fn read_names(
    node: Option<Node<'_>>,
    member: &str,
    check: impl Fn(&str, &str) -> Result<Arc<str>, Error>,
) -> Result<BTreeSet<Arc<str>>, Error> {
    let Some(node) = node else {
        return Ok(BTreeSet::new());
    };
    if node.kind() != Kind::Array {
        return Err(invalid(format!(
            "The member \"{member}\" must be an array of strings"
        )));
    }
    let (mut names, mut bytes) = (BTreeSet::new(), 0);
    for (position, item) in node.items().enumerate() {
        let place = format!("{member}[{position}]");
        let name = item
            .as_str()
            .ok_or_else(|| invalid(format!("The member \"{place}\" must be a string")))?;
        if names.insert(check(&name, &place)?) {
            bytes += name.len();
        }
        if names.len() > MAX_URIS || bytes > MAX_URIS_BYTES {
            return Err(invalid(format!(
                "The member \"{member}\" names more than {MAX_URIS}, or takes more than {MAX_URIS_BYTES} bytes: \
                 open another subscription for the rest"
            )));
        }
    }
    Ok(names)
}

/// A URI that a client names, at this place.
pub(super) fn checked_uri(uri: &str, place: &str) -> Result<Arc<str>, Error> {
    match check_uri(uri) {
        Ok(()) => Ok(uri.into()),
        Err(fault) => Err(invalid(format!(
            "The member \"{place}\" ({}) {fault}",
            plain_excerpt(uri)
        ))),
    }
}

/// Where the client's last stream broke off; an id that is none of ours says nothing.
fn last_event(head: &RequestHead) -> Option<EventId> {
    match head.single("last-event-id") {
        Single::Value(value) => EventId::parse(str::from_utf8(value).ok()?),
        _ => None,
    }
}

fn not_acceptable(what: &str) -> Error {
    let message = format!("{what} by an event stream: Accept must admit text/event-stream");
    Error::new(Code::InvalidRequest, word::NOT_ACCEPTABLE, message).with_status(406)
}
