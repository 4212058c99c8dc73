//! Newline-delimited JSON-RPC over a pair of descriptors (MCP 2026-07-28 basic/transports/stdio).
//!
//! A [`Pipe`] reads lines, starts one exchange for each in the order in which they came, runs them concurrently and
//! writes each answer as it is ready. It ends when its input does, when the client says `exit`, when it is closed, or
//! when nobody reads its output.

mod adopt;
mod changes;
mod closing;
mod conversation;
mod credit;
mod input;
mod options;
mod pipe;
mod reader;
mod reply;
mod splitter;
mod stop;
mod writer;

pub use adopt::adopt;
pub use options::Options;
pub use pipe::{Busy, End, Pipe, Sink, Source};
