//! Response headers for browsers (Fetch, "CORS protocol"); MCP is silent on them.

use std::borrow::Cow;

use crate::{config::Endpoint, head::RequestHead};

use super::{Headers, ascii, origin::Origin, param};

/// All headers of the 204 that answers a preflight; none when the origin is not allowed.
///
/// The names allowed are fixed, plus the first 32 requested that start with `Mcp-Param-` and are tokens:
/// which of those a tool binds is known only when its call is read.
pub(crate) fn preflight_headers(head: &RequestHead, endpoint: &Endpoint) -> Headers {
    let Origin::Allowed(origin) = Origin::judge(head, endpoint) else {
        return Headers::new();
    };
    vec![
        (ALLOW_ORIGIN, Cow::Owned(origin.to_owned())),
        (
            "access-control-allow-methods",
            Cow::Borrowed("POST, GET, DELETE"),
        ),
        (
            "access-control-allow-headers",
            Cow::Owned(allowed_headers(head)),
        ),
        ("access-control-max-age", Cow::Borrowed(MAX_AGE_SECONDS)),
        (
            "vary",
            Cow::Borrowed("Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),
        ),
    ]
}

/// The headers of any other answer to an allowed `Origin`; none, and no allocation, without one, unless answers depend
/// on access tokens.
///
/// The origin is echoed, `*` and `Access-Control-Allow-Credentials` are never sent: a browser attaches no
/// cookie, and a token only where the page itself has it.
pub(crate) fn response_headers(head: &RequestHead, endpoint: &Endpoint) -> Headers {
    let vary = match endpoint.guarded {
        true => "Authorization, DPoP, Origin",
        false => "Origin",
    };
    let Origin::Allowed(origin) = Origin::judge(head, endpoint) else {
        return match endpoint.guarded {
            true => vec![("vary", Cow::Borrowed(vary))],
            false => Headers::new(),
        };
    };
    vec![
        (ALLOW_ORIGIN, Cow::Owned(origin.to_owned())),
        (
            "access-control-expose-headers",
            Cow::Borrowed("WWW-Authenticate, DPoP-Nonce, Mcp-Session-Id, Retry-After"),
        ),
        ("vary", Cow::Borrowed(vary)),
    ]
}

fn allowed_headers(head: &RequestHead) -> String {
    let requested = head
        .values("access-control-request-headers")
        .flat_map(|line| line.split(|&byte| byte == b','))
        .filter_map(param_name)
        .take(MAX_PARAM_NAMES);
    let mut names = ALLOWED_HEADERS.to_owned();
    for name in requested {
        names.push_str(", ");
        names.push_str(name);
    }
    names
}

/// A requested header name, when it is that of a param header.
fn param_name(name: &[u8]) -> Option<&str> {
    let name = str::from_utf8(name.trim_ascii()).ok()?;
    let (prefix, rest) = name.split_at_checked(param::PREFIX.len())?;
    let is_param = prefix.eq_ignore_ascii_case(param::PREFIX) && ascii::is_token(rest);
    is_param.then_some(name)
}

const ALLOW_ORIGIN: &str = "access-control-allow-origin";

/// The most requested param headers that a preflight allows.
const MAX_PARAM_NAMES: usize = 32;

/// Two hours, the longest that every browser honours.
const MAX_AGE_SECONDS: &str = "7200";

const ALLOWED_HEADERS: &str = "content-type, accept, authorization, dpop, mcp-protocol-version, mcp-method, mcp-name, \
     mcp-session-id, last-event-id";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Origins,
        http::fixture::{endpoint, head},
    };

    fn value<'a>(headers: &'a Headers, name: &str) -> &'a str {
        let mut values = headers.iter().filter(|(this, _)| *this == name);
        let value = values.next().map_or("", |(_, value)| value);
        assert!(values.next().is_none(), "{name} is repeated");
        value
    }

    const APP: &str = "https://app.example";

    fn listed() -> Endpoint {
        Endpoint {
            allowed_origins: Origins::List(vec![APP.into()]),
            ..endpoint()
        }
    }

    fn preflight(requested: &str) -> Headers {
        let head = head(
            "OPTIONS",
            &[
                ("Origin", APP),
                ("Access-Control-Request-Headers", requested),
            ],
        );
        preflight_headers(&head, &listed())
    }

    fn allowed(requested: &str) -> String {
        value(&preflight(requested), "access-control-allow-headers").to_owned()
    }

    #[test]
    fn g18_a_preflight_allows_the_protocol_headers() {
        let names =
            "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-param-region";
        let headers = preflight(names);
        let allowed: Vec<_> = value(&headers, "access-control-allow-headers")
            .split(", ")
            .collect();
        assert!(
            names.split(',').all(|name| allowed.contains(&name)),
            "{allowed:?}"
        );
        assert_eq!(value(&headers, "access-control-allow-origin"), APP);
        assert_eq!(
            value(&headers, "access-control-allow-methods"),
            "POST, GET, DELETE"
        );
        assert_eq!(value(&headers, "access-control-allow-credentials"), "");
        assert_eq!(value(&headers, "access-control-max-age"), "7200");
        assert!(value(&headers, "vary").starts_with("Origin, "));
    }

    #[test]
    fn only_param_headers_are_echoed() {
        let fixed = allowed("");
        for hostile in [
            "x-evil",
            "mcp-param-",
            "mcp-param-a b",
            "mcp-param-é",
            "mcp-param-a:b",
            ", ,",
            "mcp-para",
            "é",
        ] {
            assert_eq!(allowed(hostile), fixed, "{hostile}");
        }
        assert_eq!(
            allowed("x-evil, Mcp-Param-A"),
            format!("{fixed}, Mcp-Param-A")
        );
    }

    #[test]
    fn at_most_32_names_are_echoed() {
        let many: Vec<_> = (0..100).map(|at| format!("mcp-param-{at}")).collect();
        let allowed = allowed(&many.join(","));
        assert!(allowed.ends_with("mcp-param-31") && !allowed.contains("mcp-param-32"));
    }

    #[test]
    fn an_allowed_origin_is_echoed() {
        let browser = head("POST", &[("Host", "localhost"), ("Origin", APP)]);
        let headers = response_headers(&browser, &listed());
        assert_eq!(value(&headers, "access-control-allow-origin"), APP);
        assert_eq!(value(&headers, "vary"), "Origin");
        let exposed = value(&headers, "access-control-expose-headers");
        assert!(
            ["WWW-Authenticate", "Mcp-Session-Id", "Retry-After"]
                .iter()
                .all(|name| exposed.contains(name))
        );
        assert_eq!(value(&headers, "access-control-allow-credentials"), "");
    }

    #[test]
    fn any_origin_is_echoed_too() {
        let any = Endpoint {
            allowed_origins: Origins::Any,
            ..endpoint()
        };
        let headers = response_headers(&head("POST", &[("Origin", "null")]), &any);
        assert_eq!(value(&headers, "access-control-allow-origin"), "null");
    }

    #[test]
    fn nobody_else_gets_headers() {
        let refused = head(
            "POST",
            &[("Host", "localhost"), ("Origin", "https://evil.example")],
        );
        for head in [refused, head("POST", &[("Host", "localhost")])] {
            assert_eq!(response_headers(&head, &endpoint()).capacity(), 0);
            assert_eq!(preflight_headers(&head, &endpoint()).len(), 0);
        }
    }
}
