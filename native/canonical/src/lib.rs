//! Canonical JSON: one byte form of a value, and its digest.
//!
//! Keys stand in the order of their UTF-16 code units, strings in NFC, integers in full, and there is no white space.
//! Floats have no bytes, since two runtimes print them differently. The writer goes once over the value where it
//! stands and hands pieces to a [`Sink`]: a buffer, or a digest that keeps nothing. There is no tree in between.
//!
//! ```
//! use mcp_canonical::{Algorithm, Writer};
//! use mcp_json::{Document, Limits};
//!
//! let json = br#"{ "z": [1, true], "cafe\u0301": {} }"#.to_vec();
//! let document = Document::parse(json.into(), &Limits::default())?;
//!
//! let mut writer = Writer::new(Vec::new());
//! writer.value(document.root()).expect("no floats");
//! assert_eq!(writer.finish(), r#"{"café":{},"z":[1,true]}"#.as_bytes());
//!
//! let mut writer = Writer::new(Algorithm::Sha256.hasher());
//! writer.value(document.root()).expect("no floats");
//! assert_eq!(writer.finish().hexadecimal().len(), 64);
//! # Ok::<(), mcp_json::Error>(())
//! ```

mod digest;
mod members;
mod text;
mod value;
mod writer;

pub use digest::{Algorithm, Hasher};
pub use members::{KeyFault, sorted};
pub use text::{nfc, utf16_order};
pub use value::{Key, Shape, Value};
pub use writer::{MAX_DEPTH, Sink, Uncanonical, Writer};
