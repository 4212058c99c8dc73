//! How much of each graph the other covers.

use mcp_canonical::{Sink, Writer};

use crate::label::{Aligned, Pair};
use crate::{Sign, Version};

/// Counts, from which a reader makes shares.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    declared_and_observed: u64,
    declared_edges: u64,
    declared_endpoint_covered: u64,
    declared_nodes: u64,
    declared_sign_only: u64,
    nodes_in_both: u64,
    observed_edges: u64,
    observed_endpoint_declared: u64,
    observed_nodes: u64,
    observed_sign_only: u64,
}

impl Coverage {
    /// Counts the labels and nodes of two graphs, where `signs` has the signs supplied on each side of a label.
    pub(crate) fn of(aligned: &Aligned<'_>, signs: impl Fn(&Pair) -> [Option<Sign>; 2]) -> Self {
        let nodes = [&aligned.declared, &aligned.observed];
        let [is_declared, is_observed] = nodes.map(|nodes| membership(aligned.ids.len(), nodes));
        let in_both = aligned.observed.iter();
        let in_both = in_both.filter(|node| is_declared[**node as usize]);
        let mut counts = Self {
            declared_nodes: aligned.declared.len() as u64,
            nodes_in_both: in_both.count() as u64,
            observed_nodes: aligned.observed.len() as u64,
            ..Self::default()
        };
        for pair in &aligned.labels {
            if pair.declared.is_some() {
                counts.declared_edges += 1;
                counts.declared_endpoint_covered += within(&is_observed, pair);
            }
            if pair.observed.is_some() {
                counts.observed_edges += 1;
                counts.observed_endpoint_declared += within(&is_declared, pair);
            }
            if pair.declared.is_some() && pair.observed.is_some() {
                counts.add_both(signs(pair));
            }
        }
        counts
    }

    /// The counts that a version has, by name.
    pub fn counts(&self, version: Version) -> impl Iterator<Item = (&'static str, u64)> {
        let named = [
            ("declared_and_observed", self.declared_and_observed),
            ("declared_edges", self.declared_edges),
            ("declared_endpoint_covered", self.declared_endpoint_covered),
            ("declared_nodes", self.declared_nodes),
            ("declared_sign_only", self.declared_sign_only),
            ("nodes_in_both", self.nodes_in_both),
            ("observed_edges", self.observed_edges),
            (
                "observed_endpoint_declared",
                self.observed_endpoint_declared,
            ),
            ("observed_nodes", self.observed_nodes),
            ("observed_sign_only", self.observed_sign_only),
        ];
        // The two of one side's signs came with version 2.
        let has = move |name: &str| version > Version::V1 || !name.ends_with("_sign_only");
        named.into_iter().filter(move |(name, _)| has(name))
    }

    /// Writes the members of an object.
    pub(crate) fn write<S: Sink>(&self, version: Version, writer: &mut Writer<S>) {
        for (at, (name, count)) in self.counts(version).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            writer.raw(format!("{comma}\"{name}\":{count}"));
        }
    }

    fn add_both(&mut self, signs: [Option<Sign>; 2]) {
        self.declared_and_observed += 1;
        match signs {
            [Some(_), None] => self.declared_sign_only += 1,
            [None, Some(_)] => self.observed_sign_only += 1,
            _ => {}
        }
    }
}

/// 1 where both ends of a label are among some nodes.
fn within(nodes: &[bool], pair: &Pair) -> u64 {
    let (from, to, _kind) = pair.label;
    u64::from(nodes[from as usize] && nodes[to as usize])
}

fn membership(ids: usize, nodes: &[u32]) -> Vec<bool> {
    let mut members = vec![false; ids];
    for node in nodes {
        members[*node as usize] = true;
    }
    members
}
