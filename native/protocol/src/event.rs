//! Server-sent events, as far as MCP uses them (HTTP-44), and their places in a stream that can be resumed (LHT-30).

use std::{fmt, sync::Arc};

/// Where an event stands: its stream, and how many came before. Unique among all streams of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventId {
    /// What kind of stream it is.
    pub kind: StreamKind,
    /// Names it; letters and digits.
    pub stream: Arc<str>,
    /// The number of the event, from 1; 0 is the place before the first.
    pub number: u64,
}

/// The streams that can be resumed, by the verb that opened them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StreamKind {
    /// The standing stream of a session.
    Get,
    /// The stream of one call.
    Post,
}

impl StreamKind {
    const ALL: [Self; 2] = [Self::Get, Self::Post];

    fn letter(self) -> char {
        match self {
            Self::Get => 'g',
            Self::Post => 'p',
        }
    }
}

impl EventId {
    /// Reads a `Last-Event-ID`; `None` for one that is none of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let kind = StreamKind::ALL
            .into_iter()
            .find(|kind| text.starts_with(kind.letter()))?;
        let (stream, number) = text[1..].split_once('-')?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric();
        if stream.is_empty() || stream.len() > MAX_STREAM_BYTES || !stream.bytes().all(is_name) {
            return None;
        }
        Some(Self {
            kind,
            stream: stream.into(),
            number: number.parse().ok()?,
        })
    }

    /// An event without a message, which tells the client where it may resume and how long to wait before that
    /// (LHT-10, LHT-12).
    pub fn priming(&self) -> Vec<u8> {
        format!("id: {self}\nretry: {RETRY_MS}\ndata: \n\n").into_bytes()
    }

    /// The same event, at this place.
    pub fn mark(&self, event: &[u8]) -> Vec<u8> {
        [format!("id: {self}\n").as_bytes(), event].concat()
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}-{}", self.kind.letter(), self.stream, self.number)
    }
}

const MAX_STREAM_BYTES: usize = 64;

/// How long a client waits before it resumes a stream.
const RETRY_MS: u32 = 1_500;

/// One message as one event. A JSON text has no line ends, so it is one line of data.
pub(crate) fn event(message: &[u8]) -> Vec<u8> {
    [b"event: message\ndata: ", message, b"\n\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for kind in StreamKind::ALL {
            let place = EventId {
                kind,
                stream: "a1".into(),
                number: 7,
            };
            assert_eq!(EventId::parse(&place.to_string()), Some(place));
        }
        let long = format!("g{}-1", "a".repeat(65));
        for foreign in [
            "", "-", "g", "ga1", "g-1", "ga1-", "ga1--1", "ga.1-1", "ga1-x", "a1-1", "é1-1", &long,
        ] {
            assert_eq!(EventId::parse(foreign), None, "{foreign}");
        }
    }
}
