//! A request's head in the core's own type.

use hyper::{
    Version,
    header::{HOST, HeaderMap, HeaderName, HeaderValue},
    http::request::Parts,
};
use mcp_protocol::{Peer, RequestHead};

/// Copies a head out of hyper's types, which share its read buffer. Every line of a repeated header is kept.
pub(crate) fn request_head(parts: &Parts, peer: Peer) -> RequestHead {
    let target = parts
        .uri
        .path_and_query()
        .map_or("", |target| target.as_str());
    let mut head = RequestHead::new(parts.method.as_str(), target, peer);
    match parts.uri.authority() {
        Some(authority) => push_with_authority(&mut head, parts, authority.as_str()),
        None => push_all(&mut head, &parts.headers, |_, _| true),
    }
    head
}

/// An authority in the target names the host too: `:authority` of HTTP/2 in place of `Host` (RFC 9113 §8.3.1), the
/// absolute form of HTTP/1 beside it (RFC 9112 §3.2.2). Where both are there and differ, two parties could read them
/// differently, so both are handed on and the core refuses the repeat.
fn push_with_authority(head: &mut RequestHead, parts: &Parts, authority: &str) {
    let agrees = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(authority.as_bytes());
    if parts.version >= Version::HTTP_2 {
        head.push(HOST.as_str(), authority.as_bytes());
        push_all(head, &parts.headers, |name, value| {
            *name != HOST || !agrees(value)
        });
    } else {
        if !parts.headers.get_all(HOST).iter().all(agrees) {
            head.push(HOST.as_str(), authority.as_bytes());
        }
        push_all(head, &parts.headers, |_, _| true);
    }
}

fn push_all(
    head: &mut RequestHead,
    headers: &HeaderMap,
    keep: impl Fn(&HeaderName, &HeaderValue) -> bool,
) {
    for (name, value) in headers {
        if keep(name, value) {
            head.push(name.as_str(), value.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn hosts(version: Version, uri: &str, hosts: &[&str]) -> Vec<String> {
        let mut request = Request::post(uri).version(version);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let head = request_head(&parts, Peer::Unix);
        head.values("host")
            .map(|value| String::from_utf8(value.to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn keeps_every_line_of_a_repeated_header() {
        assert_eq!(
            hosts(Version::HTTP_11, "/mcp", &["a", "a", "b"]),
            ["a", "a", "b"]
        );
    }

    #[test]
    fn names_the_authority_of_http2_as_host() {
        assert_eq!(hosts(Version::HTTP_2, "http://h:1/mcp", &[]), ["h:1"]);
        assert_eq!(hosts(Version::HTTP_2, "http://h:1/mcp", &["H:1"]), ["h:1"]);
        assert_eq!(
            hosts(Version::HTTP_2, "http://h:1/mcp", &["evil"]),
            ["h:1", "evil"]
        );
    }

    #[test]
    fn shows_an_absolute_target_that_contradicts_the_host() {
        assert_eq!(hosts(Version::HTTP_11, "http://h/mcp", &["h"]), ["h"]);
        assert_eq!(
            hosts(Version::HTTP_11, "http://h/mcp", &["evil"]),
            ["h", "evil"]
        );
        assert!(hosts(Version::HTTP_11, "http://h/mcp", &[]).is_empty());
    }

    #[test]
    fn takes_path_and_query_of_any_form() {
        let (parts, ()) = Request::post("http://h/mcp?a=1")
            .body(())
            .unwrap()
            .into_parts();
        assert_eq!(request_head(&parts, Peer::Unix).target(), "/mcp?a=1");
    }
}
