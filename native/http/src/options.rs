//! What a listener may be told.

use std::{sync::Arc, time::Duration};

use mcp_protocol::Endpoint;

use crate::{bind::Bind, guard::Guard, networks::Networks, tls::TlsServer};

/// Where a listener listens, what it serves, and every bound it keeps.
///
/// Made by [`ListenerOptions::new`] with the defaults named below; change fields before the listener starts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListenerOptions {
    /// Where to listen.
    pub bind: Bind,
    /// The endpoint's settings, `max_body_bytes` among them.
    pub endpoint: Arc<Endpoint>,
    /// What connections are secured with. Default none: plain HTTP.
    pub tls: Option<Arc<TlsServer>>,
    /// What checks access tokens, for an endpoint that is [guarded](Endpoint::guarded); its metadata is served beside
    /// the endpoint. Default none.
    pub guard: Option<Arc<Guard>>,
    /// Proxies that are believed where a request comes from. Default nobody.
    pub trusted_proxies: Networks,
    /// Header lines of one request, and trailer lines of one body. Default 100; over it 431. HTTP/2 is bound by
    /// `max_header_bytes` alone.
    pub max_headers: usize,
    /// Bytes of one request head. Default 16,384, never under 1,024; over it 431. On HTTP/2 it is the header list size
    /// (RFC 9113 §6.5.2).
    pub max_header_bytes: usize,
    /// How long a head may take: from accept for the first one, which covers the handshake of TLS and telling HTTP/2
    /// from HTTP/1, and from its first byte for each later one on HTTP/1. Default 10 s; past it 408 or a plain close.
    pub header_timeout: Duration,
    /// How long a whole body may take from the moment it is asked for. Default 30 s; past it 408.
    pub body_timeout: Duration,
    /// How long a connection may rest between requests, and how long its peer may leave an answer unread. Default
    /// 60 s; past it the connection is closed.
    pub idle_timeout: Duration,
    /// After how long without an event a stream gets a comment, which tells proxies and peers that it lives. Default
    /// 15 s.
    pub keep_alive: Duration,
    /// Connections open at a time. Default 10,000; over it a connection is answered 503 and closed,
    /// with TLS closed at once.
    pub max_connections: usize,
    /// Connections that the system holds before they are accepted. Default 1,024; over it the system refuses.
    pub backlog: u32,
    /// Requests of one HTTP/2 connection at a time. Default 100; over it a stream is refused (RFC 9113 §5.1.2).
    pub h2_max_streams: u32,
    /// HTTP/2 streams of one connection that were reset and are not yet forgotten. Default 50; over it the connection
    /// is closed with `ENHANCE_YOUR_CALM`.
    pub h2_max_resets: usize,
    /// Body bytes that one HTTP/2 stream may send ahead. Default 131,072.
    pub h2_stream_window_bytes: u32,
    /// Body bytes that one HTTP/2 connection may send ahead: with `max_connections`, the worst case of what peers can
    /// park here before a body is asked for. Default 524,288.
    pub h2_connection_window_bytes: u32,
    /// How often a quiet HTTP/2 connection is pinged. Default 20 s.
    pub h2_ping_interval: Duration,
    /// How long an HTTP/2 ping may stay unanswered. Default 10 s; past it the connection is closed.
    pub h2_ping_timeout: Duration,
    /// Whether each request is recorded as an event. Default `false`.
    pub record_requests: bool,
}

impl ListenerOptions {
    /// The defaults, listening on `bind` and serving `endpoint`.
    pub fn new(bind: Bind, endpoint: Arc<Endpoint>) -> Self {
        Self {
            bind,
            endpoint,
            tls: None,
            guard: None,
            trusted_proxies: Networks::default(),
            max_headers: DEFAULT_MAX_HEADERS,
            max_header_bytes: 16_384,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_mins(1),
            keep_alive: Duration::from_secs(15),
            max_connections: 10_000,
            backlog: 1_024,
            h2_max_streams: 100,
            h2_max_resets: 50,
            h2_stream_window_bytes: 131_072,
            h2_connection_window_bytes: 524_288,
            h2_ping_interval: Duration::from_secs(20),
            h2_ping_timeout: Duration::from_secs(10),
            record_requests: false,
        }
    }
}

/// As many header lines as hyper holds without allocating.
pub(crate) const DEFAULT_MAX_HEADERS: usize = 100;
