//! Request `_meta` (MCP 2026-07-28 basic, "`_meta`").

use std::borrow::Cow;

use mcp_json::{Kind, Node};

use crate::{
    error::{Code, Error},
    revision::Era,
    word,
};

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS_TOKEN: &str = "progressToken";

/// The levels of RFC 5424 §6.2.1, least severe first.
const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

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
        if let Some(token) = self.get(PROGRESS_TOKEN)
            && crate::request_id::RequestId::parse(token).is_err()
        {
            return Err(invalid(
                "The _meta key progressToken must be a string or an integer",
            ));
        }
        let level = self.get(LOG_LEVEL);
        let known = |node: Node<'_>| {
            node.as_str()
                .is_some_and(|level| LOG_LEVELS.contains(&&*level))
        };
        match level.is_none_or(known) {
            true => Ok(()),
            false => Err(invalid(format!(
                "The _meta key {LOG_LEVEL} must be one of {}",
                LOG_LEVELS.join(", ")
            ))),
        }
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
