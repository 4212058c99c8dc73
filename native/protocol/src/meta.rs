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
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS_TOKEN: &str = "progressToken";

/// What the protocol reads from `params._meta` of one request.
#[derive(Default)]
pub(crate) struct RequestMeta<'a> {
    version: Option<Node<'a>>,
    capabilities: Option<Node<'a>>,
    client_info: Option<Node<'a>>,
    log_level: Option<Node<'a>>,
    progress_token: Option<Node<'a>>,
}

impl<'a> RequestMeta<'a> {
    /// Reads `_meta` of `params`; one that is no object is refused (META-14).
    pub(crate) fn of(params: Option<Node<'a>>) -> Result<Self, Error> {
        let Some(node) = params.and_then(|params| params.get("_meta")) else {
            return Ok(Self::default());
        };
        match node.kind() {
            Kind::Object => Ok(Self::read(node)),
            _ => Err(malformed("The member \"params._meta\" must be an object")),
        }
    }

    /// `_meta` of a request that was checked by [`RequestMeta::of`].
    pub(crate) fn found(params: Option<Node<'a>>) -> Self {
        let node = params.and_then(|params| params.get("_meta"));
        node.map(Self::read).unwrap_or_default()
    }

    /// One pass over the members, since each request is asked for all of them.
    fn read(node: Node<'a>) -> Self {
        let mut meta = Self::default();
        for (key, value) in node.members() {
            let place = match &*key {
                VERSION => &mut meta.version,
                CAPABILITIES => &mut meta.capabilities,
                CLIENT_INFO => &mut meta.client_info,
                LOG_LEVEL => &mut meta.log_level,
                PROGRESS_TOKEN => &mut meta.progress_token,
                _ => continue,
            };
            *place = Some(value);
        }
        meta
    }

    /// Whether the request declares a version, well-typed or not.
    pub(crate) fn claims_version(&self) -> bool {
        self.version.is_some()
    }

    /// The declared version.
    pub(crate) fn version(&self) -> Result<Cow<'a, str>, Error> {
        let version = self.version.ok_or_else(|| missing(VERSION))?;
        version
            .as_str()
            .ok_or_else(|| malformed(format!("The _meta key {VERSION} must be a string")))
    }

    /// The declared capabilities are required of modern requests (META-4) and well-typed wherever they are.
    pub(crate) fn check_capabilities(&self, era: Era) -> Result<(), Error> {
        match self.capabilities.map(Node::kind) {
            Some(Kind::Object) => Ok(()),
            None if era == Era::Legacy => Ok(()),
            None => Err(missing(CAPABILITIES)),
            Some(_) => Err(malformed(format!(
                "The _meta key {CAPABILITIES} must be an object"
            ))),
        }
    }

    /// The client's `Implementation` is optional (META-5).
    pub(crate) fn check_client_info(&self) -> Result<(), Error> {
        match self.client_info.is_none_or(is_implementation) {
            true => Ok(()),
            false => Err(malformed(format!(
                "The _meta key {CLIENT_INFO} must be an object with the strings \"name\" and \"version\""
            ))),
        }
    }

    /// Checks what is optional and must be well-formed when there (META-13, LOG-6).
    pub(crate) fn check_optional(&self) -> Result<(), Error> {
        if self.progress_token.is_some() && self.progress_token().is_none() {
            return Err(invalid(
                "The _meta key progressToken must be a string or an integer",
            ));
        }
        if self.log_level.is_some() && self.log_level().is_none() {
            return Err(invalid(format!(
                "The _meta key {LOG_LEVEL} must be one of {}",
                LogLevel::names()
            )));
        }
        Ok(())
    }

    /// Under which token the client wants to read of progress (PROG-1).
    pub(crate) fn progress_token(&self) -> Option<RequestId> {
        RequestId::parse(self.progress_token?).ok()
    }

    /// From which level on the client reads log messages of this request (LOG-4).
    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        LogLevel::parse(&self.log_level?.as_str()?)
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
