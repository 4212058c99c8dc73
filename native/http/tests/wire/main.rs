//! A listener on real sockets, spoken to in raw bytes.

mod http2;
mod lifecycle;
mod limits;
mod listening;
mod message;
mod streams;
mod support;
