//! Strict JSON: bytes to a checked, flat document, and values to bytes.
//!
//! [`Document::parse`] reads a text once, refuses what two readers could take differently, and keeps
//! the positions of the values in a flat tape; no value tree is built. A [`Node`] reads one value where
//! it stands. [`mod@write`] is the way back.
//!
//! ```
//! use mcp_json::{Document, Limits};
//!
//! let text = br#"{"method":"tools/call","params":{"name":"echo"}}"#;
//! let document = Document::parse(text.as_slice().into(), &Limits::default())?;
//! let name = document.root().get("params").and_then(|params| params.get("name"));
//! assert_eq!(name.and_then(|name| name.as_str()).as_deref(), Some("echo"));
//! # Ok::<(), mcp_json::Error>(())
//! ```

mod document;
mod error;
mod keys;
mod limits;
mod node;
mod number;
mod parser;
mod prefix;
mod string;
mod tape;
pub mod write;

pub use document::{Document, NodeId};
pub use error::{Error, ErrorKind};
pub use limits::Limits;
pub use node::{Items, Kind, Members, Node};
pub use number::Number;
pub use prefix::id_in_prefix;
