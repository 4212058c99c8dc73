//! What handlers tell their clients before they answer.

use mcp_protocol::{Amount, Frame, LogLevel, Notice};
use serde_json::Value;

/// Progress without more.
pub fn progress(progress: f64) -> Notice<'static> {
    Notice::Progress {
        progress: Amount::Float(progress),
        total: None,
        message: None,
    }
}

/// A log message that says `"said"`.
pub fn log(level: LogLevel) -> Notice<'static> {
    Notice::Log {
        level,
        logger: None,
        data: br#""said""#,
    }
}

/// A notification of the host's own.
pub fn other() -> Notice<'static> {
    Notice::Other {
        method: "notifications/com.example/ripe",
        params: Some(br#"{"fruit":"pear"}"#),
    }
}

/// An integer.
pub fn amount(integer: i64) -> Amount {
    Amount::Integer(integer)
}

/// The message of a frame, whichever way it is framed.
pub fn said(frame: &Frame) -> Value {
    said_bytes(&frame.bytes)
}

/// The same of bytes.
pub fn said_bytes(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).expect("a message is text");
    let line = match text.strip_prefix("event: message\ndata: ") {
        Some(event) => event
            .strip_suffix("\n\n")
            .expect("an empty line ends an event"),
        None => text,
    };
    assert!(!line.contains('\n'), "one line: {line}");
    serde_json::from_str(line).expect("a message is one JSON value")
}
