//! Server-sent events, as far as MCP uses them (HTTP-44), and their places in a stream that can be resumed (LHT-30).

use std::{fmt, sync::Arc};

/// Where an event stands: its stream, and how many came before. Unique among all streams of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventId {
    /// Names the stream; visible ASCII without a dash.
    pub stream: Arc<str>,
    /// The number of the event, from 1; 0 is the place before the first.
    pub number: u64,
}

impl EventId {
    /// Reads a `Last-Event-ID`; `None` for one that is none of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, number) = text.split_once('-')?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric();
        if stream.is_empty() || stream.len() > MAX_STREAM_BYTES || !stream.bytes().all(is_name) {
            return None;
        }
        Some(Self {
            stream: stream.into(),
            number: number.parse().ok()?,
        })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.stream, self.number)
    }
}

const MAX_STREAM_BYTES: usize = 64;

/// How long a client waits before it resumes a stream.
const RETRY_MS: u32 = 1_500;

/// One message as one event. A JSON text has no line ends, so it is one line of data.
pub(crate) fn event(message: &[u8]) -> Vec<u8> {
    [b"event: message\ndata: ", message, b"\n\n"].concat()
}

/// The same at a place that the client may resume after.
pub(crate) fn numbered(place: &EventId, message: &[u8]) -> Vec<u8> {
    let head = format!("id: {place}\nevent: message\ndata: ");
    [head.as_bytes(), message, b"\n\n"].concat()
}

/// An event without a message, which tells the client where it may resume and how long to wait before that
/// (LHT-10, LHT-12).
pub(crate) fn priming(place: &EventId) -> Vec<u8> {
    format!("id: {place}\nretry: {RETRY_MS}\ndata: \n\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = EventId {
            stream: "a1".into(),
            number: 7,
        };
        assert_eq!(EventId::parse(&place.to_string()), Some(place));
        let long = format!("{}-1", "a".repeat(65));
        for foreign in ["", "-", "a1", "-1", "a1-", "a1--1", "a.1-1", "a1-x", &long] {
            assert_eq!(EventId::parse(foreign), None, "{foreign}");
        }
    }
}
