//! The one place where outcomes become answers: status, headers, body, and what becomes of the connection.

use super::{Carrier, Exchange, Reply};
use crate::{
    encode::{self, Members, ResultType},
    error::Error,
    event::event,
    http::{self, Headers},
    step::{Answer, Connection, Step},
    word,
};

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";

impl Exchange {
    /// A result message.
    pub(super) fn result(
        &mut self,
        reply: &Reply,
        meta: Option<&[u8]>,
        members: impl FnOnce(&mut Members<'_>),
    ) -> Step {
        self.result_of(ResultType::Complete, reply, meta, members)
    }

    /// A result message of either type.
    pub(super) fn result_of(
        &mut self,
        result_type: ResultType,
        reply: &Reply,
        meta: Option<&[u8]>,
        members: impl FnOnce(&mut Members<'_>),
    ) -> Step {
        let body = encode::result(
            &self.shared.config,
            &reply.id,
            reply.revision,
            result_type,
            meta,
            members,
        );
        if body.len() > self.shared.config.max_result_bytes {
            return self.oversized(reply, body.len());
        }
        match self.streaming || self.wants_stream() {
            true => self.answer(200, stream_headers(), event(&body), EVENT_STREAM),
            false => self.answer(200, Vec::new(), body, JSON),
        }
    }

    /// An error message.
    pub(super) fn refuse(&mut self, error: Error) -> Step {
        self.refuse_with(error, Vec::new())
    }

    /// An error message with headers of its own.
    pub(super) fn refuse_with(&mut self, error: Error, mut headers: Headers) -> Step {
        self.summary.code = Some(error.code.number());
        self.summary.refusal = Some(error.word);
        if self.silent {
            return self.plain(202);
        }
        if let Some(seconds) = error.retry_after_s {
            headers.push(("retry-after", seconds.to_string().into()));
        }
        let body = encode::error(self.id.as_ref(), &error);
        if self.streaming {
            return self.answer(200, headers, event(&body), EVENT_STREAM);
        }
        self.answer(error.status, headers, body, JSON)
    }

    /// A notification was taken: 202 over HTTP, nothing on a pipe (HTTP-9, RPC-12).
    pub(super) fn accepted(&mut self) -> Step {
        self.plain(202)
    }

    /// A cancelled request gets no response (CAN-3). Over HTTP the exchange still ends: with an event stream that
    /// holds nothing where the client reads those.
    pub(super) fn cancelled(&mut self) -> Step {
        self.summary.refusal = Some(word::CANCELLED);
        match self.admits_stream() {
            true => self.answer(200, stream_headers(), Vec::new(), EVENT_STREAM),
            false => self.plain(202),
        }
    }

    /// The end of a stream that has no result.
    pub(super) fn end_of_stream(&mut self) -> Step {
        self.answer(200, Headers::new(), Vec::new(), EVENT_STREAM)
    }

    /// `exit` on a pipe.
    pub(super) fn end(&mut self) -> Step {
        let mut answer = self.bare(202, Vec::new(), Vec::new(), JSON);
        answer.connection = Connection::End;
        Step::Answer(Box::new(answer))
    }

    pub(super) fn preflight(&mut self, headers: Headers) -> Step {
        let mut answer = self.bare(204, headers, Vec::new(), JSON);
        answer.connection = Connection::Keep;
        Step::Answer(Box::new(answer))
    }

    /// A status and nothing else.
    pub(super) fn plain(&mut self, status: u16) -> Step {
        self.answer(status, Vec::new(), Vec::new(), JSON)
    }

    fn answer(
        &mut self,
        status: u16,
        mut headers: Headers,
        body: Vec<u8>,
        content_type: &'static str,
    ) -> Step {
        if let Carrier::Http { endpoint, head, .. } = &self.carrier {
            headers.extend(http::response_headers(head, endpoint));
        }
        headers.extend(self.granted_headers());
        Step::Answer(Box::new(self.bare(status, headers, body, content_type)))
    }

    /// What an access token brings into the answer.
    pub(super) fn granted_headers(&mut self) -> Headers {
        let granted = self.granted.as_mut();
        granted.map_or_else(Headers::new, |granted| std::mem::take(&mut granted.headers))
    }

    fn bare(
        &mut self,
        status: u16,
        headers: Headers,
        body: Vec<u8>,
        content_type: &'static str,
    ) -> Answer {
        let refused = status >= 400;
        Answer {
            status,
            headers,
            body,
            content_type,
            connection: match self.body_read || !refused {
                true => Connection::Keep,
                false => Connection::Close,
            },
            summary: std::mem::take(&mut self.summary),
        }
    }
}

/// What keeps proxies from buffering a stream (HTTP-17).
pub(super) fn stream_headers() -> Headers {
    vec![
        ("x-accel-buffering", "no".into()),
        ("cache-control", "no-cache, no-transform".into()),
    ]
}
