//! What the tests of this folder start from.

use crate::{
    config::{Endpoint, Hosts, Origins},
    head::{Peer, RequestHead},
};

/// A loopback endpoint at `/mcp` that lists no origin.
pub(super) fn endpoint() -> Endpoint {
    Endpoint {
        path: "/mcp".into(),
        allowed_origins: Origins::List(Vec::new()),
        allowed_hosts: Hosts::Loopback,
        hook: 0,
        authorize: false,
        guarded: false,
        authorize_body: false,
        max_body_bytes: 1 << 20,
        secure: false,
    }
}

/// The head of a request to `/mcp` with these headers and no other.
pub(super) fn head(method: &str, headers: &[(&str, &str)]) -> RequestHead {
    let mut head = RequestHead::new(method, "/mcp", Peer::Unix);
    for (name, value) in headers {
        head.push(&name.to_ascii_lowercase(), value.as_bytes());
    }
    head
}
