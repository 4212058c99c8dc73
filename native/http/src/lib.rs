//! Streamable HTTP over hyper: a listener that drives exchanges.
//!
//! This crate moves bytes and keeps time: sockets, HTTP/1.1 and HTTP/2, deadlines, bounds, drain. What a request means
//! and how it is answered is decided by the core (`mcp-protocol`), what it does by the application behind the
//! [`Host`](mcp_driver::Host) seam. The folder's README draws the flow and lists every limit.

mod answer_body;
mod bind;
mod body;
mod client;
mod connection;
mod connections;
mod detect;
mod event_body;
mod events;
mod fetch;
mod guard;
mod guarding;
mod head;
mod held_bytes;
mod introspection;
mod listener;
mod names;
mod networks;
mod occasion;
mod options;
mod patience;
mod refusal;
mod response;
mod service;
mod socket;
mod tls;
mod token_cache;
mod unread;
mod watch;
mod well_known;
mod workers;

pub use bind::{Bind, Bound};
pub use fetch::{Fetch, FetchError, Fetched, fetch};
pub use guard::{CertificateSource, Guard, GuardOptions};
pub use introspection::{IntrospectionError, Introspector};
pub use listener::Listener;
pub use networks::Networks;
pub use options::ListenerOptions;
pub use tls::{ClientCertificates, TlsFault, TlsOptions, TlsServer, Trust};
pub use workers::Workers;
