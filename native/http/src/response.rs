//! An answer in hyper's types.

use std::{borrow::Cow, convert::Infallible};

use bytes::Bytes;
use hyper::{
    Response, StatusCode, Version,
    body::Body,
    header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    http::request::Parts,
};
use mcp_driver::Reservation;
use mcp_protocol::{Answer, StreamHead};

use crate::answer_body::AnswerBody;

/// What is kept of a request for its response.
pub(crate) struct Reply {
    version: Version,
    /// The map that the request's headers came in, emptied. hyper reads the next head into the map that the last
    /// response left in, so one that is handed round spares allocating two for each request.
    headers: HeaderMap,
}

impl Reply {
    /// Keeps what is needed and lets go of the rest, which shares the connection's read buffer.
    pub(crate) fn to(parts: Parts) -> Self {
        let mut headers = parts.headers;
        headers.clear();
        Self {
            version: parts.version,
            headers,
        }
    }

    /// Puts `answer` on the wire. `closes` says so to an HTTP/1 peer; HTTP/2 has no such header (RFC 9113 §8.2.2).
    pub(crate) fn response(
        self,
        answer: Answer,
        room: Reservation,
        closes: bool,
    ) -> Response<AnswerBody> {
        let has_content = !answer.body.is_empty() || answer.content_type == EVENT_STREAM;
        let content_type = has_content.then_some(answer.content_type);
        let status =
            StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let closes = closes && self.version < Version::HTTP_2;
        let mut response = self.head(status, content_type, answer.headers);
        if closes {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response.map(|()| AnswerBody::whole(answer.body, room))
    }

    /// Begins an event stream whose body is `events`.
    pub(crate) fn stream(
        self,
        head: StreamHead,
        events: impl Body<Data = Bytes, Error = Infallible> + Send + 'static,
    ) -> Response<AnswerBody> {
        self.head(StatusCode::OK, Some(EVENT_STREAM), head.headers)
            .map(|()| AnswerBody::Events(Box::pin(events)))
    }

    fn head(
        self,
        status: StatusCode,
        content_type: Option<&'static str>,
        more: Vec<(&'static str, Cow<'static, str>)>,
    ) -> Response<()> {
        let mut headers = self.headers;
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        for (name, value) in more {
            // A value that no header may hold is left out: it can only come from the host's own text.
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                headers.append(HeaderName::from_static(name), value);
            }
        }
        let mut response = Response::new(());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

/// A stream has its type even when nothing is in it.
const EVENT_STREAM: &str = "text/event-stream";

#[cfg(test)]
mod tests {
    use hyper::Request;
    use mcp_driver::Buffers;
    use mcp_protocol::{Connection, Summary};

    use super::*;

    fn response(answer: Answer, version: Version, closes: bool) -> Response<AnswerBody> {
        let request = Request::post("/mcp")
            .version(version)
            .header("x-from", "request");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let room = Buffers::new(usize::MAX).reserve();
        Reply::to(parts).response(answer, room, closes)
    }

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status,
            headers: vec![
                ("retry-after", "1".into()),
                ("www-authenticate", "a\r\nb".into()),
            ],
            body: body.as_bytes().to_vec(),
            content_type: "application/json",
            connection: Connection::Keep,
            summary: Summary::default(),
        }
    }

    #[test]
    fn has_a_content_type_only_with_content() {
        let with = response(answer(200, "{}"), Version::HTTP_11, false);
        assert_eq!(with.headers()[CONTENT_TYPE], "application/json");
        let without = response(answer(202, ""), Version::HTTP_11, false);
        assert!(!without.headers().contains_key(CONTENT_TYPE));
    }

    #[test]
    fn says_close_on_http1_only() {
        let http1 = response(answer(403, "{}"), Version::HTTP_11, true);
        assert_eq!(http1.headers()[CONNECTION], "close");
        let http2 = response(answer(403, "{}"), Version::HTTP_2, true);
        assert!(!http2.headers().contains_key(CONNECTION));
    }

    #[test]
    fn sends_nothing_of_the_request_back() {
        let response = response(answer(200, "{}"), Version::HTTP_11, false);
        assert!(!response.headers().contains_key("x-from"));
    }

    #[test]
    fn leaves_out_what_would_split_the_head() {
        let response = response(answer(401, "{}"), Version::HTTP_11, false);
        assert_eq!(response.headers()["retry-after"], "1");
        assert!(!response.headers().contains_key("www-authenticate"));
    }
}
