//! A listener on real sockets, spoken to in raw bytes; and what this crate fetches over them.

mod fetching;
mod http2;
mod lifecycle;
mod limits;
mod listening;
mod message;
mod streams;
mod support;
mod tls;
