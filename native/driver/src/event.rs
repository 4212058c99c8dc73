//! What transports report: identity, outcome and sizes, never payloads.

use std::net::SocketAddr;

use mcp_protocol::{Summary, Verdict};

/// One thing worth telling an operator.
#[derive(Clone, Debug)]
pub enum Event {
    /// An exchange ended.
    Request {
        /// Outcome and identity.
        summary: Summary,
        /// `http` or `stdio`.
        transport: &'static str,
        /// HTTP status, 0 on stdio.
        status: u16,
        /// Microseconds from the first byte of the head, or the line, to the answer.
        duration_us: u64,
        /// Bytes of the message that came.
        request_bytes: usize,
        /// Bytes of the message that left.
        response_bytes: usize,
    },
    /// A connection was accepted.
    ConnectionOpened {
        /// Who connected; absent on Unix sockets and pipes.
        peer: Option<SocketAddr>,
    },
    /// A connection ended.
    ConnectionClosed {
        /// Who it was.
        peer: Option<SocketAddr>,
        /// Why, in a word: `done`, `header_timeout`, `idle_timeout`, `handshake`, `error`, `drain`.
        reason: &'static str,
        /// Exchanges it carried.
        requests: u64,
    },
    /// A connection was refused because the listener is full.
    ConnectionRefused {
        /// Who tried.
        peer: Option<SocketAddr>,
    },
    /// A request was refused because an option does not list its `Host` or `Origin`. Told of each option once a minute.
    Unlisted {
        /// `allowed_hosts` or `allowed_origins`.
        option: &'static str,
        /// What it does not list, in quotation marks, escaped and shortened.
        value: String,
    },
    /// A caller was let in or refused.
    Decision(Box<Verdict>),
    /// The host did something that it must mend.
    HostFault {
        /// The definition at fault, when there is one.
        definition: Option<std::sync::Arc<str>>,
        /// What it did.
        message: String,
    },
}
