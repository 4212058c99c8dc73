//! What an edge says without its provenance, and the labels of two graphs side by side.

use std::cmp::Ordering;

use mcp_canonical::utf16_order;

use crate::{EdgeKind, Form, Provenance};

/// From, to and kind, the first two as positions in a list of ids.
pub(crate) type EdgeLabel = (u32, u32, EdgeKind);

/// A graph whose edges are all of one provenance.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a>(&'a Form);

impl<'a> Side<'a> {
    /// The graph as one side of a comparison.
    ///
    /// # Errors
    ///
    /// The other provenance, where an edge has it.
    pub fn new(form: &'a Form, provenance: Provenance) -> Result<Self, Provenance> {
        let mut edges = form.edges.iter();
        match edges.find(|edge| edge.provenance != provenance) {
            Some(other) => Err(other.provenance),
            None => Ok(Self(form)),
        }
    }

    /// The graph.
    pub fn form(self) -> &'a Form {
        self.0
    }
}

/// The ids and labels of two graphs, each once.
pub(crate) struct Aligned<'a> {
    /// The ids of both by UTF-16 code units.
    pub(crate) ids: Vec<&'a str>,
    /// Every label in order, with its edge on each side.
    pub(crate) labels: Vec<Pair>,
    /// The positions of the declared nodes in `ids`.
    pub(crate) declared: Vec<u32>,
    /// The positions of the observed nodes in `ids`.
    pub(crate) observed: Vec<u32>,
}

/// A label, and the positions of its edges.
pub(crate) struct Pair {
    pub(crate) label: EdgeLabel,
    pub(crate) declared: Option<usize>,
    pub(crate) observed: Option<usize>,
}

impl<'a> Aligned<'a> {
    pub(crate) fn new(declared: Side<'a>, observed: Side<'a>) -> Self {
        let (declared, observed) = (declared.form(), observed.form());
        let both = declared.nodes.iter().chain(&observed.nodes);
        let mut ids: Vec<&str> = both.map(|node| &*node.id).collect();
        ids.sort_by(|left, right| utf16_order(left, right));
        ids.dedup();
        let (left, right) = (positions(&ids, declared), positions(&ids, observed));
        Self {
            labels: merged(&labels(declared, &left), &labels(observed, &right)),
            declared: left,
            observed: right,
            ids,
        }
    }
}

fn positions(ids: &[&str], form: &Form) -> Vec<u32> {
    let position = |id: &str| {
        let found = ids.binary_search_by(|other| utf16_order(other, id));
        found.expect("the list has the ids of both") as u32
    };
    form.nodes.iter().map(|node| position(&node.id)).collect()
}

/// The labels of a graph in order, with the position of each one's edge.
fn labels(form: &Form, positions: &[u32]) -> Vec<(EdgeLabel, usize)> {
    let label = |(at, edge): (usize, &crate::Edge)| {
        let [from, to] = [edge.from, edge.to].map(|node| positions[node as usize]);
        ((from, to, edge.kind), at)
    };
    let mut labels: Vec<_> = form.edges.iter().enumerate().map(label).collect();
    labels.sort_unstable();
    labels
}

fn merged(declared: &[(EdgeLabel, usize)], observed: &[(EdgeLabel, usize)]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(declared.len().max(observed.len()));
    let (mut left, mut right) = (declared.iter().peekable(), observed.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(left), Some(right)) => left.0.cmp(&right.0),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return pairs,
        };
        let declared = left.next_if(|_| order.is_le());
        let observed = right.next_if(|_| order.is_ge());
        let either = declared.or(observed).expect("one of both was looked at");
        pairs.push(Pair {
            label: either.0,
            declared: declared.map(|(_, at)| *at),
            observed: observed.map(|(_, at)| *at),
        });
    }
}
