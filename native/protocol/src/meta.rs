//! Request `_meta` (MCP 2026-07-28 basic, "`_meta`").

use std::borrow::Cow;

use mcp_json::{Kind, Node};

use crate::{
    error::{Code, Error},
    log_level::LogLevel,
    request_id::RequestId,
    revision::Era,
    word,
};

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS_TOKEN: &str = "progressToken";

/// `params._meta` of one request, with what the protocol reads from it.
#[derive(Clone, Copy)]
pub(crate) struct RequestMeta<'a> {
    node: Option<Node<'a>>,
}

impl<'a> RequestMeta<'a> {
    /// Finds `_meta` in `params`; one that is no object is refused (META-14).
    pub(crate) fn of(params: Option<Node<'a>>) -> Result<Self, Error> {
        let node = params.and_then(|params| params.get("_meta"));
        if node.is_some_and(|node| node.kind() != Kind::Object) {
            return Err(malformed("The member \"params._meta\" must be an object"));
        }
        Ok(Self { node })
    }

    /// `_meta` of a request that was checked by [`RequestMeta::of`].
    pub(crate) fn found(params: Option<Node<'a>>) -> Self {
        let node = params.and_then(|params| params.get("_meta"));
        Self { node }
    }

    /// Whether the request declares a version, well-typed or not.
    pub(crate) fn claims_version(self) -> bool {
        self.get(VERSION).is_some()
    }

    /// The declared version.
    pub(crate) fn version(self) -> Result<Cow<'a, str>, Error> {
        let version = self.get(VERSION).ok_or_else(|| missing(VERSION))?;
        version
            .as_str()
            .ok_or_else(|| malformed(format!("The _meta key {VERSION} must be a string")))
    }

    /// The declared capabilities are required of modern requests (META-4) and well-typed wherever they are.
    pub(crate) fn check_capabilities(self, era: Era) -> Result<(), Error> {
        match self.get(CAPABILITIES).map(Node::kind) {
            Some(Kind::Object) => Ok(()),
            None if era == Era::Legacy => Ok(()),
            None => Err(missing(CAPABILITIES)),
            Some(_) => Err(malformed(format!(
                "The _meta key {CAPABILITIES} must be an object"
            ))),
        }
    }

    /// The client's `Implementation` is optional (META-5).
    pub(crate) fn check_client_info(self) -> Result<(), Error> {
        match self.get(CLIENT_INFO).is_none_or(is_implementation) {
            true => Ok(()),
            false => Err(malformed(format!(
                "The _meta key {CLIENT_INFO} must be an object with the strings \"name\" and \"version\""
            ))),
        }
    }

    /// Checks what is optional and must be well-formed when there (META-13, LOG-6).
    pub(crate) fn check_optional(self) -> Result<(), Error> {
        if self.get(PROGRESS_TOKEN).is_some() && self.progress_token().is_none() {
            return Err(invalid(
                "The _meta key progressToken must be a string or an integer",
            ));
        }
        if self.get(LOG_LEVEL).is_some() && self.log_level().is_none() {
            return Err(invalid(format!(
                "The _meta key {LOG_LEVEL} must be one of {}",
                LogLevel::names()
            )));
        }
        Ok(())
    }

    /// Under which token the client wants to read of progress (PROG-1).
    pub(crate) fn progress_token(self) -> Option<RequestId> {
        RequestId::parse(self.get(PROGRESS_TOKEN)?).ok()
    }

    /// From which level on the client reads log messages of this request (LOG-4).
    pub(crate) fn log_level(self) -> Option<LogLevel> {
        LogLevel::parse(&self.get(LOG_LEVEL)?.as_str()?)
    }

    fn get(self, key: &str) -> Option<Node<'a>> {
        self.node?.get(key)
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
