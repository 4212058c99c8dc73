//! The `Host` header: how it is read, and the `allowed_hosts` policy.

use crate::{
    config::{Endpoint, Hosts},
    error::{Code, Error},
    excerpt::excerpt,
    head::{RequestHead, Single},
    word,
};

use super::authority::Authority;

/// Reads `Host`, which must be there once (RFC 9112 §3.2). HTTP/2's `:authority` arrives as `host`.
///
/// # Errors
/// 400 when it is missing, repeated or not `host[:port]`: an intermediary could read it differently.
pub(super) fn read(head: &RequestHead) -> Result<Authority<'_>, Error> {
    let message = match head.single("host") {
        Single::Value(value) => match Authority::parse(value) {
            Some(authority) => return Ok(authority),
            None => format!("Host {} is not host[:port]", excerpt(value)),
        },
        Single::Absent => "Host is missing: send exactly one".to_owned(),
        Single::Repeated => "Host is repeated: send exactly one".to_owned(),
    };
    Err(Error::new(Code::InvalidRequest, word::FRAMING, message))
}

/// Applies `allowed_hosts`, the guard against DNS rebinding (MCP 2026-07-28 basic/transports/streamable-http).
///
/// # Errors
/// 403 naming the option that would admit the host.
pub(super) fn check(
    head: &RequestHead,
    host: &Authority<'_>,
    endpoint: &Endpoint,
) -> Result<(), Error> {
    if allows(endpoint, host) {
        return Ok(());
    }
    let shown = head.values("host").next().map(excerpt).unwrap_or_default();
    let message =
        format!("Host {shown} is not served: the server's allowed_hosts does not name it");
    Err(Error::new(Code::InvalidRequest, word::HOST, message).with_status(403))
}

/// Whether `allowed_hosts` covers `host`.
pub(super) fn allows(endpoint: &Endpoint, host: &Authority<'_>) -> bool {
    match &endpoint.allowed_hosts {
        Hosts::Any => true,
        Hosts::Loopback => host.is_loopback(),
        Hosts::List(entries) => entries
            .iter()
            .filter_map(|entry| Authority::parse(entry.as_bytes()))
            .any(|entry| host.is_covered_by(&entry, default_port(endpoint))),
    }
}

/// The port that a URL of the endpoint leaves out.
pub(super) fn default_port(endpoint: &Endpoint) -> u16 {
    if endpoint.secure { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fixture::{endpoint, head};

    #[test]
    fn a_host_is_there_once_and_well_formed() {
        for good in ["localhost", "[::1]:4040", "api.example:443"] {
            assert!(read(&head("POST", &[("Host", good)])).is_ok(), "{good}");
        }
        for bad in [
            vec![],
            vec![("Host", "a"), ("Host", "a")],
            vec![("Host", "a b")],
            vec![("Host", "")],
        ] {
            let error = read(&head("POST", &bad)).expect_err("refused");
            assert_eq!((error.status, error.word), (400, word::FRAMING), "{bad:?}");
        }
    }

    #[test]
    fn policies() {
        let list = Hosts::List(vec![
            "api.example".into(),
            "[::1]:80".into(),
            "in.example:9".into(),
        ]);
        for (hosts, host, served) in [
            (&Hosts::Any, "evil.example", true),
            (&Hosts::Loopback, "127.0.0.1:4040", true),
            (&Hosts::Loopback, "evil.example:4040", false),
            (&list, "API.example.:4040", true),
            (&list, "[::1]", true),
            (&list, "in.example:9", true),
            (&list, "in.example", false),
            (&list, "localhost", false),
        ] {
            let endpoint = Endpoint {
                allowed_hosts: hosts.clone(),
                ..endpoint()
            };
            let head = head("POST", &[("Host", host)]);
            let answer = check(&head, &read(&head).unwrap(), &endpoint);
            assert_eq!(answer.is_ok(), served, "{host}");
            if let Err(error) = answer {
                assert_eq!((error.status, error.word), (403, word::HOST));
                assert!(error.message.contains("allowed_hosts") && error.message.contains(host));
            }
        }
    }
}
