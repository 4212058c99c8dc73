//! An answer in hyper's types.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, StatusCode, Version,
    header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use mcp_protocol::Answer;

/// Puts `answer` on the wire. `closes` says so to an HTTP/1 peer; HTTP/2 has no such header (RFC 9113 §8.2.2).
///
/// `used` is the map of the request's headers, emptied: hyper reads the next head into the map that the last response
/// came in, so one that is handed round spares allocating two for each request.
pub(crate) fn response(
    answer: Answer,
    version: Version,
    closes: bool,
    used: HeaderMap,
) -> Response<Full<Bytes>> {
    let has_content = !answer.body.is_empty() || answer.content_type == EVENT_STREAM;
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = used;
    let headers = response.headers_mut();
    if has_content {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    }
    if closes && version < Version::HTTP_2 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in answer.headers {
        // A value that no header may hold is left out: it can only come from the host's own text.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    response
}

/// A stream has its type even when nothing is in it.
const EVENT_STREAM: &str = "text/event-stream";

#[cfg(test)]
mod tests {
    use mcp_protocol::{Connection, Summary};

    use super::*;

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
        let with = response(answer(200, "{}"), Version::HTTP_11, false, HeaderMap::new());
        assert_eq!(with.headers()[CONTENT_TYPE], "application/json");
        let without = response(answer(202, ""), Version::HTTP_11, false, HeaderMap::new());
        assert!(!without.headers().contains_key(CONTENT_TYPE));
    }

    #[test]
    fn says_close_on_http1_only() {
        let http1 = response(answer(403, "{}"), Version::HTTP_11, true, HeaderMap::new());
        assert_eq!(http1.headers()[CONNECTION], "close");
        let http2 = response(answer(403, "{}"), Version::HTTP_2, true, HeaderMap::new());
        assert!(!http2.headers().contains_key(CONNECTION));
    }

    #[test]
    fn leaves_out_what_would_split_the_head() {
        let response = response(answer(401, "{}"), Version::HTTP_11, false, HeaderMap::new());
        assert_eq!(response.headers()["retry-after"], "1");
        assert!(!response.headers().contains_key("www-authenticate"));
    }
}
