//! What a handler may know of the request it serves.

use std::{borrow::Cow, fmt, sync::Arc};

use bytes::Bytes;
use mcp_json::{Document, Limits, Node};

use crate::{
    head::RequestHead, log_level::LogLevel, meta::RequestMeta, method::Method, principal::Identity,
    request_id::RequestId, revision::Revision,
};

/// The request as a handler sees it; decoded into the host's terms by its own process.
///
/// What the message says of its client stays in the message: nothing is copied or parsed twice.
#[derive(Clone)]
pub struct RequestContext {
    /// The request's id.
    pub id: RequestId,
    /// Its method.
    pub method: Method,
    /// The revision that serves it.
    pub revision: Revision,
    /// Who calls, when a hook said so.
    pub identity: Option<Identity>,
    /// The legacy session.
    pub session: Option<Arc<str>>,
    /// What the request came over.
    pub transport: Transport,
    /// The head, where it has something for the handler: headers that the host asked to see, or a trace.
    pub head: Option<Arc<RequestHead>>,
    /// When the call's time is up, in milliseconds of the Unix epoch.
    pub deadline_ms: u64,
    pub(crate) message: Arc<Document>,
    pub(crate) meta: RequestMeta,
    pub(crate) client: Client,
}

/// The transports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    /// Streamable HTTP.
    Http,
    /// Standard input and output.
    Stdio,
}

/// The parts of a trace context (W3C): keys of `_meta` (META-12), and HTTP headers.
pub const TRACE_KEYS: [&str; 3] = ["baggage", "traceparent", "tracestate"];

/// Where the client described itself. Unverified, for display only (META-6).
#[derive(Clone)]
pub(crate) enum Client {
    /// In `_meta` of the message.
    Message,
    /// At `initialize`, as JSON texts.
    Session {
        info: Arc<str>,
        capabilities: Arc<str>,
        log_level: Option<LogLevel>,
    },
}

/// A JSON value, parsed already or not.
#[derive(Clone, Copy)]
pub enum Json<'a> {
    /// A value of the message.
    Node(Node<'a>),
    /// The text of a value that was checked before.
    Text(&'a str),
}

impl<'a> Json<'a> {
    /// The value's JSON text.
    pub fn raw(self) -> &'a str {
        match self {
            Self::Node(node) => node.raw(),
            Self::Text(text) => text,
        }
    }
}

impl RequestContext {
    /// The whole message.
    pub fn message(&self) -> &Document {
        &self.message
    }

    /// The same for a stream, which keeps it for days: of the message with `_meta` alone.
    pub(crate) fn lasting(self, limits: &Limits) -> Self {
        let meta = self.meta.node(&self.message).map_or("{}", Node::raw);
        let bytes = Bytes::copy_from_slice(meta.as_bytes());
        let message = Document::parse(bytes, limits).expect("a value of a message is JSON");
        Self {
            meta: RequestMeta::read(message.root()),
            message: Arc::new(message),
            ..self
        }
    }

    /// The client's `Implementation`.
    pub fn client_info(&self) -> Option<Json<'_>> {
        match &self.client {
            Client::Message => self.meta.client_info(&self.message).map(Json::Node),
            Client::Session { info, .. } => Some(Json::Text(info)),
        }
    }

    /// The client's capabilities: of the request (modern) or the session (legacy).
    pub fn client_capabilities(&self) -> Json<'_> {
        capabilities(&self.client, &self.message, self.meta)
    }

    /// One value of `params._meta`.
    pub fn meta_value(&self, key: &str) -> Option<Node<'_>> {
        self.meta.node(&self.message)?.get(key)
    }

    /// `params._meta` without the keys that have a field of their own here.
    pub fn meta(&self) -> impl Iterator<Item = (Cow<'_, str>, Node<'_>)> {
        let members = self.meta.node(&self.message).into_iter();
        members
            .flat_map(Node::members)
            .filter(|(_, value)| !self.meta.has_own_field(*value))
    }
}

/// The capabilities of a client.
pub(crate) fn capabilities<'a>(
    client: &'a Client,
    message: &'a Document,
    meta: RequestMeta,
) -> Json<'a> {
    match client {
        Client::Message => meta
            .capabilities(message)
            .map_or(Json::Text("{}"), Json::Node),
        Client::Session { capabilities, .. } => Json::Text(capabilities),
    }
}

/// Shows the request and its size: what is in it is the client's.
impl fmt::Debug for RequestContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RequestContext")
            .field("id", &self.id)
            .field("method", &self.method)
            .field("revision", &self.revision)
            .field("bytes", &self.message.bytes().len())
            .finish_non_exhaustive()
    }
}

/// Shows the size.
impl fmt::Debug for Json<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Json({} bytes)", self.raw().len())
    }
}
