//! Bounds of a pipe.

use std::time::Duration;

use mcp_protocol::Identity;

/// What a pipe's host may set.
#[derive(Clone, Debug)]
pub struct Options {
    /// The longest line in bytes, its end not counted. A longer one is refused once and the rest of it skipped.
    /// Default 1 MiB.
    pub max_line_bytes: usize,
    /// How long running calls may take to finish once the input has ended. Past it they are cancelled.
    /// Default 5 s.
    pub drain_timeout: Duration,
    /// Who the client is, as whoever launched the server decided (MCP 2026-07-28 basic/authorization: no OAuth on
    /// stdio). Default nobody in particular.
    pub identity: Option<Identity>,
    /// Whether each exchange is reported as an event. Default no.
    pub record_requests: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_line_bytes: 1 << 20,
            drain_timeout: Duration::from_secs(5),
            identity: None,
            record_requests: false,
        }
    }
}
