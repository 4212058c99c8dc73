//! Which revision serves a message: steps 7 to 12 of table 0.7, readings, VER-12 and VER-13.

use std::sync::Arc;

use mcp_json::{Document, Node, NodeId};

use super::{Carrier, Client, Exchange, Request, Sender};
use crate::{
    envelope::{Envelope, Incoming},
    error::{Code, Error},
    excerpt::{excerpt, plain_excerpt},
    head::{RequestHead, Single},
    http::{self, VersionHeader},
    meta::RequestMeta,
    method::{Kind, Method},
    methods::{capabilities::offers, discover::unsupported_version_data},
    question::Scope,
    request_id::{IdKey, RequestId},
    revision::{Era, Revision},
    session::Session,
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// Decides the era of a message and sends it on its way.
    pub(super) fn message(
        &mut self,
        now: Now,
        document: Arc<Document>,
        envelope: Envelope,
    ) -> Step {
        match envelope {
            Envelope::Request(ref incoming) => self.id = Some(incoming.id.clone()),
            Envelope::Notification { .. } | Envelope::Response { .. } => {
                self.silent = self.is_pipe();
            }
        }
        let params = envelope.params().map(|node| document.node(node));
        let meta = match RequestMeta::of(params) {
            Ok(meta) => meta,
            Err(error) => return self.refuse(error),
        };
        let is_legacy = !meta.claims_version() || is_handshake(meta, &document, &envelope);
        if is_legacy && !self.header_is_modern() {
            return self.legacy_message(now, document, envelope);
        }
        match envelope {
            Envelope::Request(incoming) => {
                let decided = self.declared(meta, &document, &incoming);
                let sender = Sender {
                    client: Client::Message,
                    scope: self.pipe_scope(),
                    session: None,
                };
                self.decided(now, document, incoming, meta, decided, sender)
            }
            Envelope::Notification { method, params } => {
                match self.check_notification(meta, &document, &method) {
                    Ok(()) => self.notified(&method, &document, params, self.pipe_scope()),
                    Err(error) => self.refuse(error),
                }
            }
            Envelope::Response { .. } => self.refuse(unexpected_response()),
        }
    }

    /// Steps 8 to 12 for a request that declares its version.
    fn declared(
        &mut self,
        meta: RequestMeta,
        document: &Document,
        incoming: &Incoming,
    ) -> Result<(Method, Revision), Error> {
        let method = incoming.method.as_str();
        let version = meta.version(document)?;
        let revision = Revision::parse(&version);
        let era = revision.map_or(Era::Modern, Revision::era);
        meta.check_capabilities(document, era)?;
        meta.check_client_info(document)?;
        if let Some(head) = self.head() {
            let bare_legacy = era == Era::Legacy && http::version(head) == VersionHeader::Absent;
            if !bare_legacy {
                http::check_version(head, &version)?;
            }
        }
        let revision = revision.ok_or_else(|| unsupported_version(&version))?;
        if let (Some(head), Era::Modern) = (self.head(), era) {
            let params = incoming.params.map(|node| document.node(node));
            check_mirrors(head, method, params)?;
        }
        Ok((self.known_method(method, revision)?, revision))
    }

    /// Goes on with a request whose method and revision are decided, or refuses it.
    pub(super) fn decided(
        &mut self,
        now: Now,
        document: Arc<Document>,
        incoming: Incoming,
        meta: RequestMeta,
        decided: Result<(Method, Revision), Error>,
        sender: Sender,
    ) -> Step {
        match decided {
            Ok(served) => {
                let request = Request::new(document, incoming, meta, served, sender);
                self.begin(now, request)
            }
            Err(error) => self.refuse(error),
        }
    }

    /// Step 12: the method exists in this revision, is a request, and its capability is advertised (ERR-9).
    pub(super) fn known_method(&mut self, name: &str, revision: Revision) -> Result<Method, Error> {
        self.summary.revision = Some(revision);
        let status = match (revision.era(), self.is_pipe()) {
            (Era::Modern, false) => 404,
            _ => 200,
        };
        let unknown = || {
            let message = format!("Method not found: {}", plain_excerpt(name));
            Error::new(Code::MethodNotFound, word::METHOD, message).with_status(status)
        };
        let method = Method::parse(name)
            .filter(|method| method.served(revision, self.is_pipe()))
            .ok_or_else(unknown)?;
        let offered = |feature| offers(feature, &self.shared.config, self.catalog());
        if !method.feature().is_none_or(offered) {
            return Err(unknown());
        }
        if method.kind() == Kind::Notification {
            let message = format!("{name} is a notification: send it without an id");
            return Err(Error::new(Code::InvalidRequest, word::SHAPE, message));
        }
        self.summary.method = Some(method);
        Ok(method)
    }

    /// Header rules of notifications are undefined: what is there must agree, nothing is required.
    fn check_notification(
        &self,
        meta: RequestMeta,
        document: &Document,
        method: &str,
    ) -> Result<(), Error> {
        let Some(head) = self.head() else {
            return Ok(());
        };
        if Method::parse(method).is_some_and(|method| method.kind() == Kind::Request) {
            let message = format!("{method} is a request: it needs an id");
            return Err(Error::new(Code::InvalidRequest, word::SHAPE, message));
        }
        let declared = if meta.claims_version() {
            Some(meta.version(document)?)
        } else {
            None
        };
        if let (Some(version), false) = (declared, http::version(head) == VersionHeader::Absent) {
            http::check_version(head, &version)?;
        }
        match head.single("mcp-method") {
            Single::Absent => Ok(()),
            _ => http::check_method(head, method),
        }
    }

    /// A notification that was let in.
    pub(super) fn notified(
        &mut self,
        method: &str,
        message: &Arc<Document>,
        params: Option<NodeId>,
        scope: Option<Scope>,
    ) -> Step {
        let method = Method::parse(method);
        self.summary.method = method;
        match (method, scope) {
            (Some(Method::Cancelled), Some(scope)) => self.cancel(message, params, scope),
            (Some(Method::Exit), _) if self.is_pipe() => self.end(),
            _ => self.accepted(),
        }
    }

    /// Where ids of this pipe are told apart; modern HTTP requests are reachable by their connection alone.
    pub(super) fn pipe_scope(&self) -> Option<Scope> {
        match &self.carrier {
            Carrier::Pipe { number, .. } => Some(Scope::Pipe(*number)),
            Carrier::Http { .. } => None,
        }
    }

    fn header_is_modern(&self) -> bool {
        let version = self.head().map(|head| http::version(head));
        let Some(VersionHeader::Value(version)) = version else {
            return false;
        };
        Revision::parse(version).is_some_and(|revision| revision.era() == Era::Modern)
    }
}

/// `initialize` opens a session also when `_meta` names a legacy revision (VER-5).
fn is_handshake(meta: RequestMeta, document: &Document, envelope: &Envelope) -> bool {
    let Envelope::Request(incoming) = envelope else {
        return false;
    };
    let claims_legacy = || {
        let revision = meta
            .version(document)
            .ok()
            .and_then(|it| Revision::parse(&it));
        revision.is_some_and(|revision| revision.era() == Era::Legacy)
    };
    incoming.method == Method::Initialize.as_str() && claims_legacy()
}

/// Step 11: `Mcp-Method` and, where the method has a name, `Mcp-Name`.
fn check_mirrors(head: &RequestHead, method: &str, params: Option<Node<'_>>) -> Result<(), Error> {
    http::check_method(head, method)?;
    let member = Method::parse(method).and_then(Method::name_member);
    let named = member.and_then(|member| Some((member, params?.get(member)?.as_str()?)));
    match named {
        Some((member, name)) => http::check_name(head, member, &name),
        None => Ok(()),
    }
}

pub(super) fn unsupported_version(requested: &str) -> Error {
    let message = format!(
        "Protocol version {} is not served: use one of data.supported",
        excerpt(requested.as_bytes())
    );
    Error::new(Code::UnsupportedVersion, word::VERSION, message)
        .with_data(unsupported_version_data(&plain_excerpt(requested)))
}

fn unexpected_response() -> Error {
    Error::new(
        Code::InvalidRequest,
        word::SHAPE,
        "This server has asked nothing: a response is unexpected here",
    )
}

/// Keeps what a legacy request needs of its session.
pub(super) fn client_of(session: &Session) -> Client {
    Client::Session {
        info: Arc::clone(&session.client_info),
        capabilities: Arc::clone(&session.client_capabilities),
        log_level: session.log_level,
    }
}

/// How a cancellation names a request: `params.requestId`, when it is an id at all (CAN-4).
pub(crate) fn cancelled_request(params: Option<Node<'_>>) -> Option<IdKey> {
    let node = params?.get("requestId")?;
    RequestId::parse(node).ok()?;
    Some(RequestId::key(node))
}
