//! Effective connectivity: what was measured, laid upon what was declared.

use crate::label::{Aligned, Side};
use crate::{Edge, Form, Weight};

/// The declared edges with the weights of their observed labels.
#[derive(Clone, Debug)]
pub struct Effective {
    /// A weight for each declared edge, in the order of edges; none where its label was not observed, or not measured.
    pub weights: Vec<Option<Weight>>,
    /// The observed edges whose label was not declared: their weight has no place.
    pub unplaced: Vec<Edge>,
}

impl Effective {
    /// Lays the weights of one side upon the other.
    pub fn new(declared: Side<'_>, observed: Side<'_>) -> Self {
        let observed_edges = &observed.form().edges;
        let mut weights = vec![None; declared.form().edges.len()];
        let mut unplaced = Vec::new();
        for pair in Aligned::new(declared, observed).labels {
            match (pair.declared, pair.observed) {
                (Some(at), Some(measured)) => {
                    weights[at].clone_from(&observed_edges[measured].weight);
                }
                (None, Some(measured)) => unplaced.push(observed_edges[measured].clone()),
                _ => {}
            }
        }
        Self { weights, unplaced }
    }

    /// The declared graph with these weights. Its bytes are those of `declared`, which weights are no part of.
    pub fn form(self, declared: &Form) -> Form {
        let mut form = declared.clone();
        for (edge, weight) in form.edges.iter_mut().zip(self.weights) {
            edge.weight = weight;
        }
        form
    }
}
