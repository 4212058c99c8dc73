//! Request `_meta` (MCP 2026-07-28 basic, "`_meta`").

use std::borrow::Cow;

use mcp_json::{Document, Kind, Node, NodeId};

use crate::{
    error::{Code, Error},
    log_level::LogLevel,
    request_id::RequestId,
    revision::Era,
    word,
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS_TOKEN: &str = "progressToken";

/// Where `params._meta` of one request stands in its message, and what the protocol reads of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct RequestMeta {
    whole: Option<NodeId>,
    version: Option<NodeId>,
    capabilities: Option<NodeId>,
    client_info: Option<NodeId>,
    log_level: Option<NodeId>,
    progress_token: Option<NodeId>,
}

impl RequestMeta {
    /// Finds `_meta` of `params`; one that is no object is refused (META-14).
    pub(crate) fn of(params: Option<Node<'_>>) -> Result<Self, Error> {
        let Some(node) = params.and_then(|params| params.get("_meta")) else {
            return Ok(Self::default());
        };
        match node.kind() {
            Kind::Object => Ok(Self::read(node)),
            _ => Err(malformed("The member \"params._meta\" must be an object")),
        }
    }

    /// One pass over the members, since each request is asked for all of them.
    pub(crate) fn read(node: Node<'_>) -> Self {
        let mut meta = Self {
            whole: Some(node.id()),
            ..Self::default()
        };
        for (key, value) in node.members() {
            let place = match &*key {
                VERSION => &mut meta.version,
                CAPABILITIES => &mut meta.capabilities,
                CLIENT_INFO => &mut meta.client_info,
                LOG_LEVEL => &mut meta.log_level,
                PROGRESS_TOKEN => &mut meta.progress_token,
                _ => continue,
            };
            *place = Some(value.id());
        }
        meta
    }

    /// All of it.
    pub(crate) fn node(self, message: &Document) -> Option<Node<'_>> {
        self.whole.map(|id| message.node(id))
    }

    /// Whether the request declares a version, well-typed or not.
    pub(crate) fn claims_version(self) -> bool {
        self.version.is_some()
    }

    /// The declared version.
    pub(crate) fn version(self, message: &Document) -> Result<Cow<'_, str>, Error> {
        let version = self.version.ok_or_else(|| missing(VERSION))?;
        let text = message.node(version).as_str();
        text.ok_or_else(|| malformed(format!("The _meta key {VERSION} must be a string")))
    }

    /// The declared capabilities.
    pub(crate) fn capabilities(self, message: &Document) -> Option<Node<'_>> {
        self.capabilities.map(|id| message.node(id))
    }

    /// The client's `Implementation`.
    pub(crate) fn client_info(self, message: &Document) -> Option<Node<'_>> {
        self.client_info.map(|id| message.node(id))
    }

    /// Whether a member is one that a request's context has a field of its own for.
    pub(crate) fn has_own_field(self, member: Node<'_>) -> bool {
        [self.version, self.capabilities, self.client_info].contains(&Some(member.id()))
    }

    /// The declared capabilities are required of modern requests (META-4) and well-typed wherever they are.
    pub(crate) fn check_capabilities(self, message: &Document, era: Era) -> Result<(), Error> {
        match self.capabilities(message).map(Node::kind) {
            Some(Kind::Object) => Ok(()),
            None if era == Era::Legacy => Ok(()),
            None => Err(missing(CAPABILITIES)),
            Some(_) => Err(malformed(format!(
                "The _meta key {CAPABILITIES} must be an object"
            ))),
        }
    }

    /// The client's `Implementation` is optional (META-5).
    pub(crate) fn check_client_info(self, message: &Document) -> Result<(), Error> {
        match self.client_info(message).is_none_or(is_implementation) {
            true => Ok(()),
            false => Err(malformed(format!(
                "The _meta key {CLIENT_INFO} must be an object with the strings \"name\" and \"version\""
            ))),
        }
    }

    /// Checks what is optional and must be well-formed when there (META-13, LOG-6).
    pub(crate) fn check_optional(self, message: &Document) -> Result<(), Error> {
        if self.progress_token.is_some() && self.progress_token(message).is_none() {
            return Err(invalid(
                "The _meta key progressToken must be a string or an integer",
            ));
        }
        if self.log_level.is_some() && self.log_level(message).is_none() {
            return Err(invalid(format!(
                "The _meta key {LOG_LEVEL} must be one of {}",
                LogLevel::names()
            )));
        }
        Ok(())
    }

    /// Under which token the client wants to read of progress (PROG-1).
    pub(crate) fn progress_token(self, message: &Document) -> Option<RequestId> {
        RequestId::parse(message.node(self.progress_token?)).ok()
    }

    /// From which level on the client reads log messages of this request (LOG-4).
    pub(crate) fn log_level(self, message: &Document) -> Option<LogLevel> {
        LogLevel::parse(&message.node(self.log_level?).as_str()?)
    }
}

/// Whether a value is an `Implementation` with its two required members.
pub(crate) fn is_implementation(node: Node<'_>) -> bool {
    let text = |member| {
        node.get(member)
            .is_some_and(|value| value.kind() == Kind::String)
    };
    text("name") && text("version")
}

fn missing(key: &str) -> Error {
    malformed(format!(
        "Missing _meta key {key}: every request carries {VERSION} and {CAPABILITIES} in params._meta"
    ))
}

fn malformed(message: impl Into<Cow<'static, str>>) -> Error {
    invalid(message).with_status(400)
}

fn invalid(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(Code::InvalidParams, word::META, message)
}
