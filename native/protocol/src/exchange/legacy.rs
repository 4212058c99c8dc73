//! Messages of the legacy era: sessions, and what may come without one (MCP 2025-11-25 basic/lifecycle, transports).

use std::sync::Arc;

use mcp_json::{Document, Node, NodeId};

use super::{
    Carrier, Client, Exchange, Sender, Stage,
    era::{cancelled_request, client_of, unsupported_version},
    no_sessions,
};
use crate::{
    envelope::{Envelope, Incoming},
    error::{Code, Error},
    http::{self, VersionHeader},
    meta::RequestMeta,
    method::{Kind, Method},
    methods::initialize,
    principal::Principal,
    question::{Ask, Scope},
    revision::{Era, Revision},
    session::{Session, SessionAnswer, SessionAsk},
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// A message that declares no version.
    pub(super) fn legacy_message(
        &mut self,
        now: Now,
        document: Arc<Document>,
        envelope: Envelope,
    ) -> Step {
        match &self.carrier {
            Carrier::Pipe { session, .. } => {
                let session = session.clone();
                self.pipe_message(now, document, envelope, session)
            }
            Carrier::Http { head, .. } => {
                let found =
                    check_legacy_version(http::version(head)).and_then(|()| http::session_id(head));
                let session = found.map(|id| id.map(Arc::<str>::from));
                match session {
                    Ok(session) => self.http_message(now, document, envelope, session),
                    Err(error) => self.refuse(error),
                }
            }
        }
    }

    fn http_message(
        &mut self,
        now: Now,
        document: Arc<Document>,
        envelope: Envelope,
        session: Option<Arc<str>>,
    ) -> Step {
        match (&envelope, session) {
            (Envelope::Request(incoming), session)
                if incoming.method == Method::Initialize.as_str() =>
            {
                if session.is_some() {
                    return self.refuse(initialized_already());
                }
                let params = params_of(&envelope, &document);
                if let Some(refusal) = self.admit_initialize(now, params) {
                    return refusal;
                }
                match self.initialize(params) {
                    Ok(opened) => {
                        let ask = Ask::Session(SessionAsk::Create(opened.clone()));
                        self.ask(Stage::CreatingSession(opened), ask)
                    }
                    Err(error) => self.refuse(error),
                }
            }
            (_, Some(id)) => {
                let ask = Ask::Session(SessionAsk::Fetch(Arc::clone(&id)));
                self.ask(Stage::FindingSession(id, document, envelope), ask)
            }
            (_, None) => self.refuse(Error::new(
                Code::InvalidRequest,
                word::SESSION,
                "A session is required: send initialize first and then Mcp-Session-Id, \
                 or declare the version in params._meta",
            )),
        }
    }

    pub(super) fn session_found(
        &mut self,
        now: Now,
        id: Arc<str>,
        document: Arc<Document>,
        envelope: Envelope,
        answer: SessionAnswer,
    ) -> Step {
        match self.own_session(answer) {
            Some(session) => {
                let scope = Scope::Session(Arc::clone(&id));
                self.in_session(now, document, envelope, &session, scope, Some(id))
            }
            None => self.refuse(unknown_session()),
        }
    }

    /// A message within a session, of either transport.
    fn in_session(
        &mut self,
        now: Now,
        document: Arc<Document>,
        envelope: Envelope,
        session: &Session,
        scope: Scope,
        session_id: Option<Arc<str>>,
    ) -> Step {
        match envelope {
            Envelope::Request(incoming) => {
                if incoming.method == Method::Initialize.as_str() {
                    return self.refuse(initialized_already());
                }
                let sender = Sender {
                    client: client_of(session),
                    scope: Some(scope),
                    session: session_id,
                };
                self.known(now, document, incoming, session.revision, sender)
            }
            Envelope::Notification { method, params } => {
                let is_request =
                    Method::parse(&method).is_some_and(|method| method.kind() == Kind::Request);
                if is_request && !self.is_pipe() {
                    let message = format!("{method} is a request: it needs an id");
                    return self.refuse(Error::new(Code::InvalidRequest, word::SHAPE, message));
                }
                self.notified(&method, &document, params, Some(scope))
            }
            Envelope::Response { id } => self.heard(document, id, scope),
        }
    }

    fn pipe_message(
        &mut self,
        now: Now,
        document: Arc<Document>,
        envelope: Envelope,
        session: Option<Session>,
    ) -> Step {
        let Some(scope) = self.pipe_scope() else {
            return self.refuse(super::internal(word::DRIVER, "A pipe has a number"));
        };
        if let Some(session) = session {
            return self.in_session(now, document, envelope, &session, scope, None);
        }
        let params = params_of(&envelope, &document);
        match envelope {
            Envelope::Request(incoming) => {
                let method = incoming.method.as_str();
                if method == Method::Initialize.as_str() {
                    if let Some(refusal) = self.admit_initialize(now, params) {
                        return refusal;
                    }
                    return match self.initialize(params) {
                        Ok(session) => self.open_on_pipe(session),
                        Err(error) => self.refuse(error),
                    };
                }
                if ![Method::Ping, Method::Shutdown]
                    .map(Method::as_str)
                    .contains(&method)
                {
                    return self.refuse(Error::new(
                        Code::InvalidRequest,
                        word::SESSION,
                        "Send initialize first, or declare the version in params._meta",
                    ));
                }
                let sender = Sender {
                    client: Client::Message,
                    scope: Some(scope),
                    session: None,
                };
                self.known(now, document, incoming, Revision::NEWEST_LEGACY, sender)
            }
            Envelope::Notification { method, params } => {
                self.notified(&method, &document, params, Some(scope))
            }
            Envelope::Response { id } => self.heard(document, id, scope),
        }
    }

    /// Step 12 for a request whose session, or whose pipe without one, fixes the revision.
    fn known(
        &mut self,
        now: Now,
        document: Arc<Document>,
        incoming: Incoming,
        revision: Revision,
        sender: Sender,
    ) -> Step {
        let method = self.known_method(&incoming.method, revision);
        let decided = method.map(|method| (method, revision));
        let params = incoming.params.map(|node| document.node(node));
        // It was looked at when the message came in.
        let meta = RequestMeta::of(params).unwrap_or_default();
        self.decided(now, document, incoming, meta, decided, sender)
    }

    /// Decides over the one request that goes another way than [`begin`](Self::begin), and tells of it.
    fn admit_initialize(&mut self, now: Now, params: Option<Node<'_>>) -> Option<Step> {
        self.summary.method = Some(Method::Initialize);
        let refusal = self.check_scopes(now, Method::Initialize, params);
        if refusal.is_none() {
            self.note_operation(now, (Method::Initialize, params), None);
        }
        refusal
    }

    fn initialize(&mut self, params: Option<Node<'_>>) -> Result<Session, Error> {
        let principal: Option<Principal> = self
            .identity
            .as_ref()
            .map(|identity| identity.principal.clone());
        let session = initialize::open(params, principal)?;
        self.summary.revision = Some(session.revision);
        Ok(session)
    }

    fn open_on_pipe(&mut self, session: Session) -> Step {
        let step = self.initialize_result(session.revision, None);
        self.opened = Some(session);
        step
    }

    pub(super) fn session_created(&mut self, session: &Session, answer: SessionAnswer) -> Step {
        match answer {
            SessionAnswer::Created(id) => self.initialize_result(session.revision, Some(&id)),
            SessionAnswer::Full => self.refuse(Error::new(
                Code::Busy,
                word::SESSIONS_FULL,
                "As many sessions are open as the server allows: retry later",
            )),
            _ => self.refuse(no_sessions()),
        }
    }

    /// DELETE: ends a session, and what runs in it (LHT-44).
    pub(super) fn delete(&mut self) -> Step {
        let Some(head) = self.head() else {
            return self.refuse(super::internal(word::DRIVER, "A line has no verb"));
        };
        let named = check_legacy_version(http::version(head)).and_then(|()| http::session_id(head));
        match named.map(|id| id.map(Arc::<str>::from)) {
            Ok(Some(id)) => {
                let ask = Ask::Session(SessionAsk::Fetch(Arc::clone(&id)));
                self.ask(Stage::FindingSessionToEnd(id), ask)
            }
            Ok(None) => self.refuse(Error::new(
                Code::InvalidRequest,
                word::SESSION,
                "DELETE ends a session: name it in Mcp-Session-Id",
            )),
            Err(error) => self.refuse(error),
        }
    }

    pub(super) fn end_session(&mut self, id: Arc<str>, answer: SessionAnswer) -> Step {
        match self.own_session(answer) {
            Some(_) => {
                let ask = Ask::Session(SessionAsk::Delete(Arc::clone(&id)));
                self.ask(Stage::EndingSession(id), ask)
            }
            None => self.refuse(unknown_session()),
        }
    }

    pub(super) fn end_calls(&mut self, id: Arc<str>) -> Step {
        self.ask(
            Stage::EndingCalls,
            Ask::Cancel {
                scope: Scope::Session(id),
                request: None,
            },
        )
    }

    /// Cancels what a notification names; a malformed one is ignored (CAN-4).
    pub(super) fn cancel(
        &mut self,
        message: &Arc<Document>,
        params: Option<NodeId>,
        scope: Scope,
    ) -> Step {
        match cancelled_request(params.map(|node| message.node(node))) {
            Some(request) => self.ask(
                Stage::Reaching(self.relay(&scope, message)),
                Ask::Cancel {
                    scope,
                    request: Some(request),
                },
            ),
            None => self.accepted(),
        }
    }

    /// The session found, if it is this caller's: another's is as good as none (LHT-45).
    pub(super) fn own_session(&self, answer: SessionAnswer) -> Option<Session> {
        match answer {
            SessionAnswer::Found(session) if session.principal.as_ref() == self.principal() => {
                Some(session)
            }
            _ => None,
        }
    }
}

fn params_of<'a>(envelope: &Envelope, document: &'a Document) -> Option<Node<'a>> {
    envelope.params().map(|node| document.node(node))
}

/// A legacy message may name its version; it must be one that is served (LHT-52).
pub(super) fn check_legacy_version(header: VersionHeader<'_>) -> Result<(), Error> {
    match header {
        VersionHeader::Absent => Ok(()),
        VersionHeader::Value(version) => match Revision::parse(version).map(Revision::era) {
            Some(Era::Legacy) => Ok(()),
            _ => Err(unsupported_version(version)),
        },
        VersionHeader::Invalid | VersionHeader::Repeated => Err(Error::new(
            Code::HeaderMismatch,
            word::HEADER,
            "MCP-Protocol-Version must come once, as visible ASCII",
        )),
    }
}

fn initialized_already() -> Error {
    Error::new(
        Code::InvalidRequest,
        word::SESSION,
        "This session is initialized already",
    )
}

pub(super) fn unknown_session() -> Error {
    Error::new(
        Code::InvalidRequest,
        word::SESSION_UNKNOWN,
        "No such session: send initialize to open a new one",
    )
    .with_status(404)
}
