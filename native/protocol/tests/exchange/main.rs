//! The protocol through its public door: an [`mcp_protocol::Exchange`], a scripted world, a clock moved by hand.
//!
//! Requirements are cited by their ids (`VER-3`), readings by theirs (`A-12`), trials by theirs (`G04`).

mod harness;
mod ladder;
mod transcripts;
mod versions;
