//! JSON Schema for tool arguments and results: compile once, check fast, explain slowly.
//!
//! [`Schema::compile`] refuses what could not be checked with bounded work or would need the network;
//! [`Schema::check`] answers with [`Faults`] worded for a model; [`header_bindings`] reads the
//! `x-mcp-header` annotations. Nothing here performs I/O.

mod alternatives;
mod cost;
mod declared;
mod dialect;
mod digits;
mod document;
mod error;
mod explain;
mod extent;
mod fault;
mod header;
mod instance;
mod keyword;
mod limits;
mod message;
mod meter;
mod order;
mod pattern;
mod pointer;
mod schema;
mod text;
mod union;
mod unique;

pub use dialect::Dialect;
pub use error::{Error, ErrorKind};
pub use fault::{Fault, Faults};
pub use header::{HeaderBinding, header_bindings};
pub use limits::Limits;
pub use schema::{Role, Schema};
