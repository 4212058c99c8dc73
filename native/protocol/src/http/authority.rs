//! `host[:port]`, as `Host`, the end of an `Origin` and an entry of `allowed_hosts` spell it.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A host with an optional port (RFC 3986 §3.2), without user information.
#[derive(Clone, Copy, Debug)]
pub(super) struct Authority<'a> {
    host: Host<'a>,
    port: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
enum Host<'a> {
    /// A registered name without the dot at its end.
    Name(&'a str),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

impl<'a> Authority<'a> {
    /// Reads `host[:port]`, where the port may be empty; `None` for anything else. A name holds letters,
    /// digits, `-`, `.` and `_` only, so that nothing two parties could split differently passes for one.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let end = match text.strip_prefix('[') {
            Some(address) => address.find(']')? + 2,
            None => text.find(':').unwrap_or(text.len()),
        };
        let (host, port) = text.split_at(end);
        let host = Host::parse(host)?;
        let port = match port {
            "" | ":" => None,
            _ => Some(parse_port(port.strip_prefix(':')?)?),
        };
        Some(Self { host, port })
    }

    /// Whether this is `localhost`, an address of `127.0.0.0/8` or `[::1]`, whatever the port.
    pub(super) fn is_loopback(&self) -> bool {
        match self.host {
            Host::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Host::V4(address) => address.is_loopback(),
            Host::V6(address) => address.is_loopback(),
        }
    }

    /// Whether both name the same host and port; a missing port is `default_port`.
    pub(super) fn equals(&self, other: &Self, default_port: u16) -> bool {
        self.has_host(other)
            && self.port.unwrap_or(default_port) == other.port.unwrap_or(default_port)
    }

    /// Whether `entry` of a list covers this: the same host and, where `entry` has one, the same port.
    pub(super) fn is_covered_by(&self, entry: &Self, default_port: u16) -> bool {
        self.has_host(entry)
            && entry
                .port
                .is_none_or(|port| port == self.port.unwrap_or(default_port))
    }

    fn has_host(&self, other: &Self) -> bool {
        match (self.host, other.host) {
            (Host::Name(this), Host::Name(that)) => this.eq_ignore_ascii_case(that),
            (Host::V4(this), Host::V4(that)) => this == that,
            (Host::V6(this), Host::V6(that)) => this == that,
            _ => false,
        }
    }
}

impl<'a> Host<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let bracketed = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(address) = bracketed {
            return address.parse().ok().map(Self::V6);
        }
        let text = text.strip_suffix('.').unwrap_or(text);
        if let Ok(address) = text.parse() {
            return Some(Self::V4(address));
        }
        let is_name = !text.is_empty() && text.bytes().all(is_name_byte);
        is_name.then_some(Self::Name(text))
    }
}

fn parse_port(digits: &str) -> Option<u16> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Authority<'_>> {
        Authority::parse(text.as_bytes())
    }

    #[test]
    fn reads_names_addresses_and_ports() {
        for good in [
            "localhost",
            "localhost.",
            "LOCALHOST:4040",
            "a_b-c.example:",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:65535",
            "xn--bcher-kva.example",
        ] {
            assert!(parse(good).is_some(), "{good}");
        }
    }

    #[test]
    fn refuses_what_is_no_host_and_port() {
        for bad in [
            "",
            ".",
            ":80",
            "a:b",
            "a:+8",
            "a:65536",
            "a:1:2",
            "a b",
            "a,b",
            "a/b",
            "user@a",
            "::1",
            "[::1",
            "[::1]x",
            "[]",
            "[fe80::1%25eth0]",
            "[v1.x]",
            "a%00",
            "bücher.example",
            "a\0",
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
        assert!(Authority::parse(b"a\xFF").is_none());
    }

    #[test]
    fn knows_loopback_in_every_spelling() {
        for near in [
            "localhost",
            "LocalHost.:1",
            "127.0.0.1",
            "127.9.8.7:80",
            "127.0.0.1.",
            "[0:0::1]",
        ] {
            assert!(parse(near).unwrap().is_loopback(), "{near}");
        }
        for far in [
            "x.localhost",
            "localhost.example",
            "128.0.0.1",
            "127.1",
            "0.0.0.0",
            "[::]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(!parse(far).unwrap().is_loopback(), "{far}");
        }
    }

    #[test]
    fn compares_with_the_port_that_is_meant() {
        let equals = |this, that| parse(this).unwrap().equals(&parse(that).unwrap(), 80);
        assert!(equals("a.example", "A.example.:80"));
        assert!(!equals("a.example", "a.example:81"));
        assert!(!equals("1.2.3.4", "[::1]"));
        let covered = |this, entry| {
            parse(this)
                .unwrap()
                .is_covered_by(&parse(entry).unwrap(), 443)
        };
        assert!(covered("a.example:9", "a.example"));
        assert!(covered("a.example", "a.example:443"));
        assert!(!covered("a.example", "a.example:9"));
        assert!(!covered("b.a.example", "a.example"));
    }
}
