//! Event streams: whether a response is one, and since when (D17, HTTP-17).

use std::sync::Arc;

use super::{Carrier, Client, Exchange, Request, Stage};
use crate::{
    log_level::LogLevel,
    notice::{Framing, Notifier},
    question::Scope,
    revision::{Era, Revision},
    step::StreamHead,
};

impl Exchange {
    /// While a call is awaited: in how many milliseconds its response has to begin as an event stream, at the latest.
    /// `None` where it never does, on a pipe and for a client that reads none.
    pub fn streams_after_ms(&self) -> Option<u64> {
        let awaits_call = matches!(self.stage, Stage::Calling(..));
        match (awaits_call && self.admits_stream(), self.wants_stream()) {
            (false, _) => None,
            (true, true) => Some(0),
            (true, false) => Some(self.shared.config.stream_after_ms),
        }
    }

    /// Begins the response as an event stream. What follows, the answer included, are its events.
    pub fn open_stream(&mut self) -> StreamHead {
        self.streaming = true;
        StreamHead {
            headers: self.stream_head_headers(),
        }
    }

    /// Whose stream the response is, once it begins: a client of 2025-11-25 may leave it and resume it later by its
    /// session (LHT-11, LHT-31).
    pub fn resumable(&self) -> Option<Scope> {
        self.resumable.clone().map(Scope::Session)
    }

    pub(super) fn resumable_by(&self, request: &Request) -> Option<Arc<str>> {
        let can_wait = request.revision == Revision::R20251125 && self.admits_stream();
        request.session.clone().filter(|_| can_wait)
    }

    /// Whether the peer reads event streams only, so that a result must come as one (D17).
    pub(super) fn wants_stream(&self) -> bool {
        match &self.carrier {
            Carrier::Http { accepts, .. } => !accepts.json,
            Carrier::Pipe { .. } => false,
        }
    }

    pub(super) fn admits_stream(&self) -> bool {
        match &self.carrier {
            Carrier::Http { accepts, .. } => accepts.event_stream,
            Carrier::Pipe { .. } => false,
        }
    }

    /// What becomes of the messages of a request's call.
    pub(super) fn notifier(&self, request: &Request) -> Notifier {
        let framing = match self.is_pipe() {
            true => Framing::Line,
            false if self.admits_stream() => Framing::Event,
            false => Framing::Nothing,
        };
        Notifier::new(
            framing,
            request.meta.progress_token(&request.document),
            self.threshold(request),
            self.resumable.is_some(),
        )
    }

    /// A modern client reads no log message unless it says so with the request (LOG-4); a legacy one says so for its
    /// session, or leaves it to the server (LOG-7).
    fn threshold(&self, request: &Request) -> Option<LogLevel> {
        let own = request.meta.log_level(&request.document);
        match (request.revision.era(), &request.client) {
            (Era::Modern, _) => own,
            (Era::Legacy, Client::Session { log_level, .. }) => {
                Some(log_level.unwrap_or(self.shared.config.log_level))
            }
            (Era::Legacy, Client::Message) => Some(own.unwrap_or(self.shared.config.log_level)),
        }
    }
}
