//! What a call may tell its client before its answer, one of each kind.

use mcp_protocol::{Amount, LogLevel, Notice};

/// Progress of so much.
pub fn progress(integer: i64) -> Notice<'static> {
    Notice::Progress {
        progress: Amount::Integer(integer),
        total: None,
        message: None,
    }
}

/// An informational log message.
pub fn log(data: &[u8]) -> Notice<'_> {
    Notice::Log {
        level: LogLevel::Info,
        logger: None,
        data,
    }
}

/// A notification that the protocol does not define.
pub fn other() -> Notice<'static> {
    Notice::Other {
        method: "notifications/other",
        params: None,
    }
}
