//! Whether a request may reach the protocol at all, before anything of its body is read.

use std::borrow::Cow;

use crate::{
    config::Endpoint,
    error::{Code, Error},
    excerpt::excerpt,
    head::{RequestHead, Single},
    revision::{Era, Revision},
    word,
};

use super::{
    Headers, host,
    mirror::{self, VersionHeader},
    origin::Origin,
};

/// An HTTP method that carries protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verb {
    /// A message.
    Post,
    /// The standing stream of a legacy session (MCP 2025-11-25 basic/transports, "Listening for Messages from the Server").
    Get,
    /// The end of a legacy session (MCP 2025-11-25 basic/transports, "Session Management").
    Delete,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Go on with authorization and body.
    Serve(Verb),
    /// Answer 204 with [`preflight_headers`](super::cors::preflight_headers); authorization is not asked.
    Preflight,
    /// Answer this and close: the body stays unread.
    Refuse(Refusal),
}

/// An answer to a request that is not admitted.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Why, with status and word.
    pub error: Error,
    /// Headers that the status asks for, e.g. `allow`.
    pub headers: Headers,
}

/// Checks framing, path, `Host`, `Origin` and method, in this order.
///
/// A refusal has status 400, 404, 403, 403 or 405, and code -32600.
pub(crate) fn admit(head: &RequestHead, endpoint: &Endpoint) -> Admission {
    match check_address(head, endpoint) {
        Ok(origin) => check_method(head, origin),
        Err(error) => Admission::Refuse(Refusal {
            error,
            headers: Headers::new(),
        }),
    }
}

/// All but the method, which alone has more to say than an error.
fn check_address<'a>(head: &'a RequestHead, endpoint: &Endpoint) -> Result<Origin<'a>, Error> {
    let host = host::read(head)?;
    check_transfer_encoding(head)?;
    check_path(head, endpoint)?;
    host::check(head, &host, endpoint)?;
    let origin = Origin::judge(head, endpoint);
    origin.check()?;
    Ok(origin)
}

/// Another coding, or a second line, is read differently by different parties (RFC 9112 §6.1).
fn check_transfer_encoding(head: &RequestHead) -> Result<(), Error> {
    let message = match head.single("transfer-encoding") {
        Single::Absent => return Ok(()),
        Single::Value(value) if value.eq_ignore_ascii_case(b"chunked") => return Ok(()),
        Single::Value(value) => format!(
            "Transfer-Encoding {} is not served: send chunked",
            excerpt(value)
        ),
        Single::Repeated => "Transfer-Encoding is repeated: send chunked once".to_owned(),
    };
    Err(Error::new(Code::InvalidRequest, word::FRAMING, message))
}

/// The endpoint's path with and without a slash at its end; never a redirect, which would lose the headers.
fn check_path(head: &RequestHead, endpoint: &Endpoint) -> Result<(), Error> {
    let bare = endpoint.path.strip_suffix('/').unwrap_or(&endpoint.path);
    if matches!(head.path().strip_prefix(bare), Some("" | "/")) {
        return Ok(());
    }
    let message = format!(
        "Nothing is served at {}: send MCP requests to \"{}\"",
        excerpt(head.path().as_bytes()),
        endpoint.path
    );
    Err(Error::new(Code::InvalidRequest, word::PATH, message).with_status(404))
}

fn check_method(head: &RequestHead, origin: Origin<'_>) -> Admission {
    match head.method() {
        "POST" => Admission::Serve(Verb::Post),
        "GET" if !declares_modern(head) => Admission::Serve(Verb::Get),
        "DELETE" if !declares_modern(head) => Admission::Serve(Verb::Delete),
        "OPTIONS" if is_preflight(head, origin) => Admission::Preflight,
        method => Admission::Refuse(refuse_method(head, method)),
    }
}

/// A CORS preflight (Fetch, "CORS-preflight request") from an origin that passed.
fn is_preflight(head: &RequestHead, origin: Origin<'_>) -> bool {
    matches!(origin, Origin::Allowed(_))
        && head
            .values("access-control-request-method")
            .next()
            .is_some()
}

/// The modern era has POST only, also where legacy sessions are served beside it
/// (MCP 2026-07-28 basic/transports/streamable-http).
fn declares_modern(head: &RequestHead) -> bool {
    let VersionHeader::Value(version) = mirror::version(head) else {
        return false;
    };
    Revision::parse(version).is_some_and(|revision| revision.era() == Era::Modern)
}

fn refuse_method(head: &RequestHead, method: &str) -> Refusal {
    let allow = if declares_modern(head) {
        "POST, OPTIONS"
    } else {
        "POST, GET, DELETE, OPTIONS"
    };
    let message = match method {
        "OPTIONS" => {
            "OPTIONS is for CORS preflights: send Origin and Access-Control-Request-Method"
                .to_owned()
        }
        _ => format!(
            "HTTP method {} is not served: send one of {allow}",
            excerpt(method.as_bytes())
        ),
    };
    Refusal {
        error: Error::new(Code::InvalidRequest, word::METHOD, message).with_status(405),
        headers: vec![("allow", Cow::Borrowed(allow))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Hosts, Origins},
        head::Peer,
        http::fixture::{endpoint, head},
    };

    const HOST: (&str, &str) = ("Host", "localhost:4040");

    fn refusal(head: &RequestHead, endpoint: &Endpoint) -> Refusal {
        match admit(head, endpoint) {
            Admission::Refuse(refusal) => refusal,
            admitted => panic!("{head:?} is {admitted:?}"),
        }
    }

    fn serves(head: &RequestHead, endpoint: &Endpoint) -> bool {
        matches!(admit(head, endpoint), Admission::Serve(Verb::Post))
    }

    fn at(target: &str) -> RequestHead {
        let mut head = RequestHead::new("POST", target, Peer::Unix);
        head.push(&HOST.0.to_ascii_lowercase(), HOST.1.as_bytes());
        head
    }

    #[test]
    fn framing_comes_before_everything() {
        let foreign = ("Host", "evil.example");
        for headers in [
            vec![],
            vec![HOST, HOST],
            vec![("Host", "localhost:x")],
            vec![foreign, ("Transfer-Encoding", "gzip, chunked")],
            vec![foreign, ("Transfer-Encoding", "identity")],
            vec![
                foreign,
                ("Transfer-Encoding", "chunked"),
                ("Transfer-Encoding", "chunked"),
            ],
        ] {
            let refusal = refusal(&head("BREW", &headers), &endpoint());
            assert_eq!(
                (refusal.error.status, refusal.error.word),
                (400, word::FRAMING),
                "{headers:?}"
            );
            assert_eq!(refusal.error.code, Code::InvalidRequest);
        }
        assert!(serves(
            &head("POST", &[HOST, ("Transfer-Encoding", "Chunked")]),
            &endpoint()
        ));
    }

    #[test]
    fn g19_the_path_is_served_with_and_without_a_slash() {
        for (path, target, served) in [
            ("/mcp", "/mcp", true),
            ("/mcp", "/mcp/", true),
            ("/mcp", "/mcp?tenant=7", true),
            ("/mcp/", "/mcp", true),
            ("/", "/", true),
            ("/mcp", "/", false),
            ("/mcp", "/mcp//", false),
            ("/mcp", "/mcpx", false),
            ("/mcp", "/MCP", false),
            ("/mcp", "/mcp/tools", false),
            ("/mcp", "*", false),
            ("/mcp", "http://localhost:4040/mcp", false),
        ] {
            let endpoint = Endpoint {
                path: path.into(),
                ..endpoint()
            };
            assert_eq!(serves(&at(target), &endpoint), served, "{path} {target}");
        }
        let refusal = refusal(&at("/other"), &endpoint());
        assert_eq!(
            (refusal.error.status, refusal.error.word),
            (404, word::PATH)
        );
        assert_eq!(
            refusal.error.message,
            r#"Nothing is served at "/other": send MCP requests to "/mcp""#
        );
    }

    #[test]
    fn g10_rebinding_is_refused() {
        for (host, origin, word) in [
            ("evil.example:4040", None, word::HOST),
            (
                "evil.example:4040",
                Some("http://evil.example:4040"),
                word::HOST,
            ),
            ("localhost:4040", Some("http://evil.example"), word::ORIGIN),
            ("localhost:4040", Some("null"), word::ORIGIN),
        ] {
            let headers: Vec<_> = [("Host", host)]
                .into_iter()
                .chain(origin.map(|it| ("Origin", it)))
                .collect();
            let refusal = refusal(&head("POST", &headers), &endpoint());
            assert_eq!(
                (refusal.error.status, refusal.error.word),
                (403, word),
                "{headers:?}"
            );
        }
        assert!(serves(
            &head("POST", &[HOST, ("Origin", "http://localhost:4040")]),
            &endpoint()
        ));
        assert!(serves(&head("POST", &[HOST]), &endpoint()));
    }

    #[test]
    fn x28_a_proxy_on_the_same_host_is_served_by_name() {
        let proxied = head("POST", &[("Host", "public.example")]);
        let refusal = refusal(&proxied, &endpoint());
        assert_eq!(refusal.error.status, 403);
        assert!(refusal.error.message.contains("allowed_hosts"));
        let named = Endpoint {
            allowed_hosts: Hosts::List(vec!["public.example".into()]),
            ..endpoint()
        };
        assert!(serves(&proxied, &named));
    }

    #[test]
    fn x35_other_methods_are_told_what_is_allowed() {
        for method in [
            "HEAD", "PUT", "get", "PATCH", "TRACE", "CONNECT", "OPTIONS", "post", "BREW", "",
        ] {
            let refusal = refusal(&head(method, &[HOST]), &endpoint());
            assert_eq!(
                (refusal.error.status, refusal.error.word),
                (405, word::METHOD),
                "{method}"
            );
            assert_eq!(
                refusal.headers,
                [("allow", Cow::Borrowed("POST, GET, DELETE, OPTIONS"))]
            );
        }
    }

    #[test]
    fn get_and_delete_are_legacy_only() {
        let with = |method, version| head(method, &[HOST, ("MCP-Protocol-Version", version)]);
        let delete = with("DELETE", "2025-11-25");
        assert!(matches!(
            admit(&delete, &endpoint()),
            Admission::Serve(Verb::Delete)
        ));
        let bare = head("DELETE", &[HOST]);
        assert!(matches!(
            admit(&bare, &endpoint()),
            Admission::Serve(Verb::Delete)
        ));
        assert!(matches!(
            admit(&head("GET", &[HOST]), &endpoint()),
            Admission::Serve(Verb::Get)
        ));
        for method in ["GET", "DELETE"] {
            let refusal = refusal(&with(method, "2026-07-28"), &endpoint());
            assert_eq!(refusal.error.status, 405);
            assert_eq!(refusal.headers, [("allow", Cow::Borrowed("POST, OPTIONS"))]);
        }
    }

    #[test]
    fn g18_preflights_need_an_allowed_origin() {
        let ask = ("Access-Control-Request-Method", "POST");
        let preflight = head("OPTIONS", &[HOST, ("Origin", "https://app.example"), ask]);
        let list = Origins::List(vec!["https://app.example".into()]);
        let allowing = Endpoint {
            allowed_origins: list,
            ..endpoint()
        };
        assert!(matches!(admit(&preflight, &allowing), Admission::Preflight));
        assert_eq!(refusal(&preflight, &endpoint()).error.status, 403);
        assert_eq!(
            refusal(&head("OPTIONS", &[HOST, ask]), &allowing)
                .error
                .status,
            405
        );
    }
}
