//! Where a request comes from when proxies stand between (RFC 7239, and `X-Forwarded-For` before it).

use std::net::{IpAddr, SocketAddr};

use mcp_protocol::{Peer, RequestHead};

use crate::networks::Networks;

/// The address of the client: the last one that no trusted proxy has, as far as trusted proxies tell. Where they do not,
/// or the two headers disagree, it is that of the nearest proxy: nobody can be taken for somebody else.
pub(crate) fn client(head: &RequestHead, proxies: &Networks) -> Option<IpAddr> {
    let peer = match head.peer() {
        Peer::Tcp(address) => Some(address.ip()),
        Peer::Unix => None,
    };
    if !proxies.contain(head.peer()) {
        return peer;
    }
    let forwarded = lines(head, "forwarded").map(|lines| origin(forwarded(&lines), proxies));
    let listed = lines(head, "x-forwarded-for").map(|lines| origin(listed(&lines), proxies));
    match (forwarded, listed) {
        (Some(one), Some(other)) if one != other => peer,
        (Some(told), _) | (None, Some(told)) => told.or(peer),
        (None, None) => peer,
    }
}

/// Walks from the nearest hop outwards, as long as the hops are trusted ones that can be read.
fn origin(hops: Vec<Option<IpAddr>>, proxies: &Networks) -> Option<IpAddr> {
    let mut nearest = None;
    for hop in hops.into_iter().rev() {
        let Some(address) = hop else {
            return nearest;
        };
        nearest = Some(address);
        if !proxies.contain(Peer::Tcp(SocketAddr::new(address, 0))) {
            return nearest;
        }
    }
    nearest
}

/// All lines of a header as one; none without a line.
fn lines(head: &RequestHead, name: &str) -> Option<String> {
    let lines: Vec<_> = head.values(name).map(String::from_utf8_lossy).collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// The hops of `X-Forwarded-For`, the nearest one last.
fn listed(text: &str) -> Vec<Option<IpAddr>> {
    text.split(',').map(|hop| address(hop.trim())).collect()
}

/// The hops of `Forwarded` (RFC 7239 §4), by their `for`.
fn forwarded(text: &str) -> Vec<Option<IpAddr>> {
    split(text, ',').map(hop).collect()
}

/// The `for` of one hop. None where quotation marks do not pair up: what a proxy added may be hidden between them.
fn hop(element: &str) -> Option<IpAddr> {
    let mut node = None;
    for pair in split(element, ';') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = unquoted(value.trim())?;
        if name.contains('"') {
            return None;
        }
        if name.trim().eq_ignore_ascii_case("for") {
            node = node.or(Some(value));
        }
    }
    address(node?)
}

/// A token, or all that stands between one pair of quotation marks.
fn unquoted(value: &str) -> Option<&str> {
    let Some(rest) = value.strip_prefix('"') else {
        return (!value.contains('"')).then_some(value);
    };
    let mut is_escaped = false;
    let end = rest.find(|character: char| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    })?;
    (end + 1 == rest.len()).then(|| &rest[..end])
}

/// Splits where `separator` stands outside of quotation marks.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |character| {
        let separates = character == separator && !is_quoted;
        is_quoted ^= character == '"' && !is_escaped;
        is_escaped = character == '\\' && is_quoted && !is_escaped;
        separates
    })
}

/// An address with or without a port; `unknown` and made-up names are none.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let socket = || text.parse().map(|address: SocketAddr| address.ip()).ok();
    bare.unwrap_or(text).parse().ok().or_else(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(peer: Peer, headers: &[(&str, &str)]) -> Option<String> {
        let mut head = RequestHead::new("POST", "/mcp", peer);
        for (name, value) in headers {
            head.push(&name.to_ascii_lowercase(), value.as_bytes());
        }
        let proxies = Networks::parse(["10.0.0.0/8", "2001:db8::/32", "unix"]).unwrap();
        client(&head, &proxies).map(|address| address.to_string())
    }

    fn via_proxy(headers: &[(&str, &str)]) -> String {
        found(peer("10.0.0.1"), headers).unwrap()
    }

    fn peer(address: &str) -> Peer {
        Peer::Tcp(SocketAddr::new(address.parse().unwrap(), 7))
    }

    #[test]
    fn a_stranger_is_believed_nothing() {
        for header in ["forwarded", "x-forwarded-for"] {
            let told = [(header, "for=203.0.113.9"), (header, "203.0.113.9")];
            assert_eq!(found(peer("192.0.2.1"), &told).unwrap(), "192.0.2.1");
        }
    }

    #[test]
    fn the_last_address_that_no_proxy_has_counts() {
        for (expected, value) in [
            ("203.0.113.9", "203.0.113.9"),
            ("203.0.113.9", "198.51.100.1, 203.0.113.9"),
            ("203.0.113.9", "198.51.100.1,203.0.113.9:81, 10.0.0.2"),
            ("2001:db9::1", "[2001:db9::1]:81, 2001:db8::7"),
            ("2001:db9::1", "2001:db9::1, [2001:db8::7]"),
            ("10.0.0.3", "10.0.0.3, 10.0.0.2"),
            ("10.0.0.2", "unknown, 10.0.0.2"),
            ("10.0.0.1", "203.0.113.9, unknown"),
            ("10.0.0.1", ""),
        ] {
            assert_eq!(
                via_proxy(&[("x-forwarded-for", value)]),
                expected,
                "{value}"
            );
        }
        let lines = [
            ("x-forwarded-for", "198.51.100.1"),
            ("x-forwarded-for", "203.0.113.9"),
        ];
        assert_eq!(via_proxy(&lines), "203.0.113.9");
        assert_eq!(found(Peer::Unix, &lines).unwrap(), "203.0.113.9");
        assert_eq!(found(Peer::Unix, &[]), None);
    }

    #[test]
    fn forwarded_is_read_with_its_quotes() {
        for (expected, value) in [
            ("203.0.113.9", "for=203.0.113.9"),
            (
                "203.0.113.9",
                r#"For="203.0.113.9:4711";proto=https, by=x;for=10.0.0.2"#,
            ),
            ("2001:db9::1", r#"for="[2001:db9::1]:4711""#),
            (
                "203.0.113.9",
                r#"for=203.0.113.9;host="a,b;for=198.51.100.1""#,
            ),
            (
                "203.0.113.9",
                r#"for=203.0.113.9;host="a\",for=198.51.100.1""#,
            ),
            ("10.0.0.1", "for=_hidden"),
            ("10.0.0.1", "proto=https"),
            ("10.0.0.2", "for=unknown, for=10.0.0.2"),
            // A quotation mark that a client leaves open would hide what its proxy adds.
            ("10.0.0.1", r#"for=198.51.100.1;x=", for=203.0.113.9"#),
            ("10.0.0.1", r#"for=198.51.100.1;x=", for="[2001:db9::1]""#),
            ("10.0.0.1", r#"for=198.51.100.1;", for=203.0.113.9"#),
            ("10.0.0.1", r#"for=198.51.100.1;x="\, for="203.0.113.9""#),
        ] {
            assert_eq!(via_proxy(&[("forwarded", value)]), expected, "{value}");
        }
    }

    #[test]
    fn headers_that_disagree_tell_nothing() {
        let both = |one, other| via_proxy(&[("forwarded", one), ("x-forwarded-for", other)]);
        assert_eq!(both("for=203.0.113.9", "203.0.113.9"), "203.0.113.9");
        assert_eq!(both("for=198.51.100.1", "203.0.113.9"), "10.0.0.1");
    }
}
