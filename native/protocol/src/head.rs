//! The head of an HTTP request as plain data: ordered, repeats kept, no library types.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    ops::Range,
    sync::Arc,
};

use mcp_auth::Certificate;

/// Method, target, headers and peer of one request.
///
/// Names lie in one buffer and values in another, in the order they arrived, so a head costs three allocations whatever
/// it holds. Header names are lower case; values are the bytes between the optional white space around them (RFC 9110
/// §5.5).
#[derive(Clone)]
pub struct RequestHead {
    /// Method, target and header names.
    text: String,
    values: Vec<u8>,
    method: Range<u32>,
    target: Range<u32>,
    headers: Vec<HeaderSpan>,
    /// A bit for the tag of each header: most names that are asked for are not there.
    tags: u64,
    peer: Peer,
    client: Option<IpAddr>,
    tls: Option<Arc<Tls>>,
}

/// Who is at the other end of the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Peer {
    /// A TCP peer with its address.
    Tcp(SocketAddr),
    /// A Unix-domain socket, which has no address worth telling.
    Unix,
}

/// What TLS says of the connection that a request came over.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tls {
    /// The version that both sides settled on.
    pub version: TlsVersion,
    /// The certificate that the client showed, and whose key it proved to have.
    pub certificate: Option<Certificate>,
}

/// A version of TLS that is spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TlsVersion {
    /// RFC 5246
    V1_2,
    /// RFC 8446
    V1_3,
}

#[derive(Clone)]
struct HeaderSpan {
    /// Tells most names apart without looking at them.
    tag: u32,
    name: Range<u32>,
    value: Range<u32>,
}

impl RequestHead {
    /// Starts a head; add headers with [`RequestHead::push`].
    pub fn new(method: &str, target: &str, peer: Peer) -> Self {
        let mut head = Self {
            text: String::with_capacity(256),
            values: Vec::with_capacity(256),
            method: 0..0,
            target: 0..0,
            headers: Vec::with_capacity(12),
            tags: 0,
            peer,
            client: match peer {
                Peer::Tcp(address) => Some(address.ip()),
                Peer::Unix => None,
            },
            tls: None,
        };
        head.method = head.append(method);
        head.target = head.append(target);
        head
    }

    /// Notes what TLS says of the connection.
    pub fn set_tls(&mut self, tls: Option<Arc<Tls>>) {
        self.tls = tls;
    }

    /// Adds one header line. `name` is in lower case; white space around `value` is dropped.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        debug_assert_eq!(name, name.to_ascii_lowercase(), "names are in lower case");
        let start = self.values.len() as u32;
        self.values.extend_from_slice(trim(value));
        let tag = tag(name);
        self.tags |= bit(tag);
        let span = HeaderSpan {
            tag,
            name: self.append(name),
            value: start..self.values.len() as u32,
        };
        self.headers.push(span);
    }

    /// Takes every line of the header `name` (lower case) away: nobody who reads this head learns of it.
    pub fn remove(&mut self, name: &str) {
        let text = self.text.as_bytes();
        self.headers
            .retain(|span| text[as_usize(&span.name)] != *name.as_bytes());
    }

    /// The HTTP method as it came, e.g. `POST`.
    pub fn method(&self) -> &str {
        self.str(&self.method)
    }

    /// Path and query as they came.
    pub fn target(&self) -> &str {
        self.str(&self.target)
    }

    /// The target up to the first `?`.
    pub fn path(&self) -> &str {
        let target = self.target();
        target.split_once('?').map_or(target, |(path, _)| path)
    }

    /// What follows the first `?`.
    pub fn query(&self) -> Option<&str> {
        self.target().split_once('?').map(|(_, query)| query)
    }

    /// The other end of the connection.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// Where the request comes from: the peer, unless whoever read the head knows better.
    pub fn client(&self) -> Option<IpAddr> {
        self.client
    }

    /// Notes where the request comes from.
    pub fn set_client(&mut self, client: Option<IpAddr>) {
        self.client = client;
    }

    /// What TLS says of the connection, if it has TLS.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_deref()
    }

    /// Every header line in order, as lower-case name and value.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers
            .iter()
            .map(|span| (self.str(&span.name), self.value(span)))
    }

    /// Every value of the header `name` (lower case), in order.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.spans(name).map(|span| self.value(span))
    }

    /// The value of a header that must not be repeated.
    pub fn single(&self, name: &str) -> Single<'_> {
        let mut spans = self.spans(name);
        match (spans.next(), spans.next()) {
            (None, _) => Single::Absent,
            (Some(span), None) => Single::Value(self.value(span)),
            (Some(_), Some(_)) => Single::Repeated,
        }
    }

    /// Whether there is a header `name` (lower case).
    pub fn has(&self, name: &str) -> bool {
        self.spans(name).next().is_some()
    }

    fn spans<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a HeaderSpan> {
        let tag = tag(name);
        let headers = match self.tags & bit(tag) {
            0 => &[],
            _ => &*self.headers,
        };
        headers
            .iter()
            .filter(move |span| span.tag == tag && self.has_name(span, name))
    }

    fn has_name(&self, span: &HeaderSpan, name: &str) -> bool {
        self.text.as_bytes()[as_usize(&span.name)] == *name.as_bytes()
    }

    fn append(&mut self, text: &str) -> Range<u32> {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        start..self.text.len() as u32
    }

    fn str(&self, range: &Range<u32>) -> &str {
        &self.text[as_usize(range)]
    }

    fn value(&self, span: &HeaderSpan) -> &[u8] {
        &self.values[as_usize(&span.value)]
    }
}

/// Length, first and last character of a name.
fn tag(name: &str) -> u32 {
    let first = name.bytes().next().unwrap_or_default();
    let last = name.bytes().next_back().unwrap_or_default();
    (name.len() as u32) << 16 | u32::from(first) << 8 | u32::from(last)
}

/// One of 64 bits, chosen by all of a tag.
const fn bit(tag: u32) -> u64 {
    1 << (tag.wrapping_mul(0x9E37_79B1) >> 26)
}

/// How often a header came, and its value when it came once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Single<'a> {
    /// No such line.
    Absent,
    /// Exactly one line.
    Value(&'a [u8]),
    /// More than one line, equal or not.
    Repeated,
}

/// Says how many headers came, never their values: they may hold credentials.
impl fmt::Debug for RequestHead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RequestHead")
            .field("method", &self.method())
            .field("path", &self.path())
            .field("headers", &self.headers.len())
            .finish_non_exhaustive()
    }
}

fn as_usize(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> RequestHead {
        let mut head = RequestHead::new("POST", "/mcp?tenant=7", Peer::Unix);
        head.push("mcp-method", b" \t tools/list \t");
        head.push("x-twice", b"a");
        head.push("x-twice", b"a");
        head
    }

    #[test]
    fn splits_the_target() {
        assert_eq!(head().path(), "/mcp");
        assert_eq!(head().query(), Some("tenant=7"));
    }

    #[test]
    fn trims_values() {
        assert_eq!(head().single("mcp-method"), Single::Value(b"tools/list"));
    }

    #[test]
    fn tells_a_repeated_header_even_when_its_values_agree() {
        assert_eq!(head().single("x-twice"), Single::Repeated);
        assert_eq!(head().values("x-twice").count(), 2);
        assert_eq!(head().single("absent"), Single::Absent);
    }

    #[test]
    fn a_removed_header_is_gone() {
        let mut head = head();
        head.remove("x-twice");
        assert_eq!(head.single("x-twice"), Single::Absent);
        assert_eq!(head.headers().count(), 1);
        assert_eq!(head.single("mcp-method"), Single::Value(b"tools/list"));
    }

    #[test]
    fn debug_shows_no_values() {
        assert!(!format!("{:?}", head()).contains("tools/list"));
    }
}
