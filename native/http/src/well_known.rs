//! The protected resource metadata over HTTP (RFC 9728 §3.1, §3.2): public, cacheable, readable from any page.

use std::borrow::Cow;

use mcp_auth::Document;
use mcp_protocol::{Answer, Connection, Headers, RequestHead, Summary};

/// Answers a request for `document`, which is at its own place and, when `serves_root`, at the well-known path alone.
/// `None` when it asks for something else.
pub(crate) fn answer(document: &Document, serves_root: bool, head: &RequestHead) -> Option<Answer> {
    if !document.is_at(head.target(), serves_root) {
        return None;
    }
    let mut headers: Headers = vec![("access-control-allow-origin", "*".into())];
    let (status, body) = match head.method() {
        "GET" | "HEAD" => {
            headers.push(("cache-control", "public, max-age=300".into()));
            headers.push(("etag", document.etag.clone().into()));
            match has_it(head, &document.etag) {
                true => (304, Vec::new()),
                false => (200, document.body.clone()),
            }
        }
        "OPTIONS" => {
            headers.extend(PREFLIGHT.map(|(name, value)| (name, Cow::Borrowed(value))));
            (204, Vec::new())
        }
        _ => {
            headers.push(("allow", "GET, HEAD, OPTIONS".into()));
            (405, Vec::new())
        }
    };
    Some(Answer {
        status,
        headers,
        body,
        content_type: "application/json",
        connection: Connection::Keep,
        summary: Summary::default(),
    })
}

/// Whether the client holds the document already (RFC 9110 §13.1.2).
fn has_it(head: &RequestHead, etag: &str) -> bool {
    let lines = head.values("if-none-match");
    lines
        .flat_map(|line| line.split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .any(|tag| tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == etag.as_bytes())
}

const PREFLIGHT: [(&str, &str); 3] = [
    ("access-control-allow-methods", "GET, HEAD"),
    ("access-control-allow-headers", "*"),
    ("access-control-max-age", "86400"),
];
