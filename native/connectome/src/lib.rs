//! The graph of calls as a value: its bytes, differences and reach.
//!
//! A [`Graph`] is what was given, its parts checked against each other: what [`reach`] asks. A [`Form`] is its canonical
//! form: what is written, hashed, compared. Neither changes once made. `docs/connectome-canonical.md`
//! describes the bytes.

mod coverage;
mod diff;
mod dot;
mod effective;
mod envelope;
mod federation;
mod form;
mod graph;
mod graphml;
mod label;
pub mod reach;
mod record;
mod sidecar;
mod vocabulary;
mod weight;

pub use coverage::Coverage;
pub use diff::{Class, Compared, Diff};
pub use effective::Effective;
pub use envelope::NoSuchSign;
pub use federation::{Claim, EdgeConflict, Federation, MergeFault, NodeConflict, NodeField, Part};
pub use form::{Form, FormNode, Label, LabelValue, Refusal};
pub use graph::{Edge, GivenEdge, GivenNode, Graph, GraphFault, Node};
pub use graphml::NotXml;
pub use label::Side;
pub use record::{Content, Envelope, RecordFault, Schema};
pub use vocabulary::{EdgeKind, Level, NodeKind, Provenance, Sign, Version};
pub use weight::Weight;
