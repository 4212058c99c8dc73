//! The `Origin` header and the `allowed_origins` policy.

use crate::{
    config::{Endpoint, Hosts, Origins},
    error::{Code, Error},
    excerpt::excerpt,
    head::{RequestHead, Single},
    word,
};

use super::{ascii, authority::Authority, host};

/// What `allowed_origins` makes of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Origin<'a> {
    /// No browser, or a browser that has nothing to declare.
    Absent,
    /// May call, and read the answer.
    Allowed(&'a str),
    /// May not.
    Refused(&'a [u8]),
    /// More than one line, which no browser sends.
    Repeated,
}

impl<'a> Origin<'a> {
    /// Reads the header and applies the policy (MCP 2026-07-28 basic/transports/streamable-http).
    ///
    /// Beside what the option lists, the endpoint's own origin may call where its `Host` is checked against
    /// a list; unchecked, a page that rebound its own name to this server would look like it. `null`
    /// has to be listed like any other.
    pub(super) fn judge(head: &'a RequestHead, endpoint: &Endpoint) -> Self {
        let value = match head.single("origin") {
            Single::Absent => return Self::Absent,
            Single::Repeated => return Self::Repeated,
            Single::Value(value) => value,
        };
        match ascii::visible(value) {
            Some("") | None => Self::Refused(value),
            Some(origin) if is_listed(origin, endpoint) || is_own(origin, head, endpoint) => {
                Self::Allowed(origin)
            }
            _ => Self::Refused(value),
        }
    }

    /// The same as a decision about the request.
    ///
    /// # Errors
    /// 403 naming the option that would admit the origin.
    pub(super) fn check(self) -> Result<(), Error> {
        let message = match self {
            Self::Absent | Self::Allowed(_) => return Ok(()),
            Self::Refused(value) => format!(
                "Origin {} may not call: the server's allowed_origins does not name it",
                excerpt(value)
            ),
            Self::Repeated => {
                "Origin is repeated: allowed_origins is checked against exactly one".to_owned()
            }
        };
        Err(Error::new(Code::InvalidRequest, word::ORIGIN, message).with_status(403))
    }
}

/// Serialised origins are equal when their text is (RFC 6454 §6.2).
fn is_listed(origin: &str, endpoint: &Endpoint) -> bool {
    match &endpoint.allowed_origins {
        Origins::Any => true,
        Origins::List(list) => list.iter().any(|entry| entry.eq_ignore_ascii_case(origin)),
    }
}

fn is_own(origin: &str, head: &RequestHead, endpoint: &Endpoint) -> bool {
    if endpoint.allowed_hosts == Hosts::Any {
        return false;
    }
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let own_scheme = if endpoint.secure { "https" } else { "http" };
    let own_host = host::read(head)
        .ok()
        .filter(|own| host::allows(endpoint, own));
    scheme.eq_ignore_ascii_case(own_scheme)
        && Authority::parse(authority.as_bytes())
            .zip(own_host)
            .is_some_and(|(origin, own)| origin.equals(&own, host::default_port(endpoint)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fixture::{endpoint, head};

    fn allowed(endpoint: &Endpoint, host: &str, origin: &str) -> bool {
        let head = head("POST", &[("Host", host), ("Origin", origin)]);
        matches!(Origin::judge(&head, endpoint), Origin::Allowed(value) if value == origin)
    }

    fn listing(origins: &[&str]) -> Endpoint {
        let list = origins.iter().map(ToString::to_string).collect();
        Endpoint {
            allowed_origins: Origins::List(list),
            ..endpoint()
        }
    }

    #[test]
    fn no_origin_is_no_error() {
        let head = head("POST", &[("Host", "localhost")]);
        assert_eq!(Origin::judge(&head, &endpoint()), Origin::Absent);
        assert!(Origin::Absent.check().is_ok());
    }

    #[test]
    fn own_origin_is_scheme_host_and_port() {
        let http = endpoint();
        let https = Endpoint {
            secure: true,
            ..endpoint()
        };
        for (endpoint, host, origin, own) in [
            (&http, "localhost:4040", "http://localhost:4040", true),
            (&http, "[::1]:4040", "http://[::1]:4040", true),
            (&http, "localhost", "http://localhost:80", true),
            (&https, "localhost:443", "https://localhost", true),
            (&http, "localhost:4040", "http://localhost:6274", false),
            (&http, "localhost:4040", "http://127.0.0.1:4040", false),
            (&http, "localhost:4040", "https://localhost:4040", false),
            (&https, "localhost", "http://localhost", false),
            (&http, "evil.example", "http://evil.example", false),
            (&http, "localhost:4040", "http://evil.example", false),
            (&http, "localhost:4040", "http://localhost:4040/", false),
            (&http, "localhost:4040", "http://u@localhost:4040", false),
            (&http, "localhost:4040", "localhost:4040", false),
            (&http, "localhost:4040", "null", false),
        ] {
            assert_eq!(allowed(endpoint, host, origin), own, "{host} {origin}");
        }
    }

    #[test]
    fn own_origin_counts_only_where_hosts_are_checked() {
        let open = Endpoint {
            allowed_hosts: Hosts::Any,
            ..endpoint()
        };
        assert!(!allowed(&open, "evil.example", "http://evil.example"));
        let listed = Endpoint {
            allowed_hosts: Hosts::List(vec!["a.example".into()]),
            ..endpoint()
        };
        assert!(allowed(&listed, "a.example:8080", "http://a.example:8080"));
        assert!(!allowed(&listed, "b.example", "http://b.example"));
    }

    #[test]
    fn lists_and_any() {
        let listed = listing(&["https://app.example", "null", "vscode-webview://x1"]);
        for (origin, verdict) in [
            ("https://app.example", true),
            ("HTTPS://APP.example", true),
            ("null", true),
            ("vscode-webview://x1", true),
            ("https://app.example:444", false),
            ("http://app.example", false),
            ("https://app.example.evil.example", false),
            ("https://app.example https://app.example", false),
        ] {
            assert_eq!(allowed(&listed, "localhost", origin), verdict, "{origin}");
        }
        let any = Endpoint {
            allowed_origins: Origins::Any,
            ..endpoint()
        };
        assert!(
            allowed(&any, "localhost", "null") && allowed(&any, "localhost", "http://evil.example")
        );
        assert!(!allowed(&any, "localhost", "http://a b") && !allowed(&any, "localhost", ""));
    }

    #[test]
    fn refusals_name_the_option() {
        let twice = head(
            "POST",
            &[
                ("Host", "localhost"),
                ("Origin", "http://a"),
                ("Origin", "http://a"),
            ],
        );
        let any = Endpoint {
            allowed_origins: Origins::Any,
            ..endpoint()
        };
        assert_eq!(Origin::judge(&twice, &any), Origin::Repeated);
        for origin in [Origin::Repeated, Origin::Refused(b"http://evil.example")] {
            let error = origin.check().expect_err("refused");
            assert_eq!((error.status, error.word), (403, word::ORIGIN));
            assert!(error.message.contains("allowed_origins"));
        }
    }
}
