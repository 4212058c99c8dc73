//! What can reach what: searches and dominators over a graph as it was given.
//!
//! Everything here takes time linear in the graph, or close to it; nothing lists paths, of which there may be more than
//! atoms.

mod dominators;
mod search;

pub use dominators::Dominators;
pub use search::{Path, Search};

use crate::{Edge, EdgeKind, Graph, Sign};

/// The edges that a question goes along.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// Of these kinds.
    pub kinds: Vec<EdgeKind>,
    /// Without these signs.
    pub without: Vec<Sign>,
}

impl Admitted {
    /// Every edge.
    pub fn all() -> Self {
        Self {
            kinds: EdgeKind::ALL.to_vec(),
            without: Vec::new(),
        }
    }

    fn admits(&self, edge: &Edge) -> bool {
        self.kinds.contains(&edge.kind) && !self.without.contains(&edge.sign)
    }

    fn from<'g>(&self, graph: &'g Graph, node: u32) -> impl Iterator<Item = &'g Edge> {
        let edges = graph.edges_from(node).iter();
        edges.filter(move |edge| self.admits(edge))
    }
}
