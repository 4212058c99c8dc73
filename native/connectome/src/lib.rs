//! The graph of calls as a value: its bytes, differences and reach.
//!
//! A [`Graph`] is what was given, its parts checked against each other: what [`reach`] asks. A [`Form`] is its canonical
//! form: what is written, hashed, compared. Neither changes once made. `docs/connectome-canonical.md`
//! describes the bytes.

mod envelope;
mod form;
mod graph;
mod sidecar;
mod vocabulary;
mod weight;

pub use envelope::NoSuchSign;
pub use form::{Form, FormNode, Label, LabelValue, Refusal};
pub use graph::{Edge, GivenEdge, GivenNode, Graph, GraphFault, Node};
pub use vocabulary::{EdgeKind, Level, NodeKind, Provenance, Sign, Version};
pub use weight::Weight;
