//! A listener over a small host in this process, and a client that writes raw bytes.

mod authority;
mod client;
mod request;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use mcp_http::{Bind, Bound, Listener, ListenerOptions, Workers};

pub use authority::{Authority, Identity};
pub use client::{Client, Response};
pub use mcp_testing::{Settings, TestHost, endpoint, eventually};
pub use request::{call, chunked, head, listen, post};

/// A running listener.
pub struct Server {
    pub listener: Listener,
    pub host: Arc<TestHost>,
}

/// Serves on a port of the loopback interface that the system chooses.
pub fn serve() -> Server {
    serve_with(|_| {})
}

/// The same with options changed by `change`.
pub fn serve_with(change: impl FnOnce(&mut ListenerOptions)) -> Server {
    serve_on(Bind::Tcp((Ipv4Addr::LOCALHOST, 0).into()), change)
}

/// The same with a host whose settings `settle` changed.
pub fn serve_settled(
    settle: impl FnOnce(&mut Settings),
    change: impl FnOnce(&mut ListenerOptions),
) -> Server {
    let loopback = Bind::Tcp((Ipv4Addr::LOCALHOST, 0).into());
    start(TestHost::serving(settle), loopback, change)
}

/// The same on `bind`.
pub fn serve_on(bind: Bind, change: impl FnOnce(&mut ListenerOptions)) -> Server {
    start(TestHost::serving(|_| ()), bind, change)
}

fn start(host: Arc<TestHost>, bind: Bind, change: impl FnOnce(&mut ListenerOptions)) -> Server {
    let mut options = ListenerOptions::new(bind, Arc::new(endpoint()));
    options.record_requests = true;
    change(&mut options);
    let workers = Workers::start(2).unwrap();
    let listener = Listener::start(Arc::clone(&host), &workers, options).unwrap();
    Server { listener, host }
}

impl Server {
    pub fn address(&self) -> SocketAddr {
        match self.listener.address() {
            Bound::Tcp(address) => *address,
            Bound::Unix(path) => panic!("{} is no address", path.display()),
        }
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.address())
    }
}

pub fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}
