//! The one table of error codes, and the error an exchange answers with.

use std::borrow::Cow;

/// A JSON-RPC error code that this server emits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Code {
    /// Not JSON (JSON-RPC 2.0 §5.1).
    Parse,
    /// Not one request object.
    InvalidRequest,
    /// No such method, or its capability is not advertised.
    MethodNotFound,
    /// Malformed parameters.
    InvalidParams,
    /// The server failed.
    Internal,
    /// A header is missing, repeated or differs from the body (MCP 2026-07-28 basic/transports/streamable-http).
    HeaderMismatch,
    /// No such resource, in the legacy revisions alone (ERR-4).
    ResourceNotFound,
    /// The request needs what the client does not declare (META-9).
    MissingCapability,
    /// The declared version is not served (MCP 2026-07-28 basic/versioning).
    UnsupportedVersion,
    /// As much work as allowed is in flight; outside the reserved range, as ERR-5 asks.
    Busy,
    /// This principal has as many calls in flight as allowed.
    PrincipalBusy,
    /// The request's credentials are malformed (RFC 6750 §3.1).
    MalformedCredentials,
    /// Other credentials are needed.
    Unauthorized,
    /// These credentials do not suffice.
    Forbidden,
}

/// Code, wire number, and the HTTP status that goes with it unless a case says otherwise (requirement ERR-13).
const TABLE: &[(Code, i32, u16)] = &[
    (Code::Parse, -32700, 400),
    (Code::InvalidRequest, -32600, 400),
    (Code::MethodNotFound, -32601, 404),
    (Code::InvalidParams, -32602, 200),
    (Code::Internal, -32603, 200),
    (Code::HeaderMismatch, -32020, 400),
    (Code::ResourceNotFound, -32002, 200),
    (Code::MissingCapability, -32021, 400),
    (Code::UnsupportedVersion, -32022, 400),
    (Code::Busy, -31503, 503),
    (Code::PrincipalBusy, -31429, 429),
    (Code::MalformedCredentials, -31400, 400),
    (Code::Unauthorized, -31401, 401),
    (Code::Forbidden, -31403, 403),
];

/// A refusal on its way to the peer. What the host did wrong is never in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// The JSON-RPC code.
    pub code: Code,
    /// One sentence for people: what was wrong and, where there is one, the fix.
    pub message: Cow<'static, str>,
    /// `error.data` as JSON text.
    pub data: Option<String>,
    /// The HTTP status.
    pub status: u16,
    /// After how many seconds it is worth trying again, where it is.
    pub retry_after_s: Option<u64>,
    /// Why, in a word of a fixed list, for telemetry.
    pub word: &'static str,
}

impl Code {
    /// The number on the wire.
    pub fn number(self) -> i32 {
        self.row().1
    }

    fn row(self) -> &'static (Self, i32, u16) {
        TABLE
            .iter()
            .find(|row| row.0 == self)
            .expect("every code has a row, which a test proves")
    }
}

impl Error {
    /// An error with its code's usual HTTP status.
    pub fn new(code: Code, word: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            status: code.row().2,
            retry_after_s: matches!(code, Code::Busy | Code::PrincipalBusy).then_some(1),
            word,
        }
    }

    /// The same error with another HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same error for a client that should wait longer than a second.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// The same error with `data`, which is JSON text.
    #[must_use]
    pub fn with_data(mut self, data: String) -> Self {
        self.data = Some(data);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_outside_the_ranges_that_are_not_ours() {
        for (code, number, _) in TABLE {
            assert_eq!(code.number(), *number);
            assert_eq!(TABLE.iter().filter(|row| row.1 == *number).count(), 1);
            let legacy_alone = *code == Code::ResourceNotFound;
            assert!(legacy_alone || !(-32019..=-32000).contains(number));
            assert!(!(-32099..=-32023).contains(number));
        }
    }
}
