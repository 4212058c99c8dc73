//! Terms of graphs that come out of bytes or of an index.

use std::cell::OnceCell;

use mcp_connectome::{Edge, Form, Graph, LabelValue, Weight};
use rustler::{BigInt, Encoder, Env, Term, types::atom};

use super::words::Words;
use crate::{atoms, decode};

/// Makes terms, each word of the vocabulary and each id once at most.
pub(super) struct Builder<'a, 'g> {
    env: Env<'a>,
    words: Words,
    ids: Vec<(&'g [u8], OnceCell<Term<'a>>)>,
}

impl<'a, 'g> Builder<'a, 'g> {
    /// For the nodes of a form.
    pub(super) fn of_form(env: Env<'a>, form: &'g Form) -> Self {
        let ids = form.nodes.iter().map(|node| node.id.as_bytes());
        Self::new(env, ids)
    }

    /// For the nodes of a graph as it was given.
    pub(super) fn of_graph(env: Env<'a>, graph: &'g Graph) -> Self {
        Self::new(env, graph.nodes().iter().map(|node| &*node.id))
    }

    pub(super) fn new(env: Env<'a>, ids: impl Iterator<Item = &'g [u8]>) -> Self {
        Self {
            env,
            words: Words::new(env),
            ids: ids.map(|id| (id, OnceCell::new())).collect(),
        }
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// The id at a position.
    pub(super) fn id(&self, node: u32) -> Term<'a> {
        let (bytes, term) = &self.ids[node as usize];
        *term.get_or_init(|| decode::binary(self.env, bytes))
    }

    /// `%Graph{}`
    pub(super) fn graph(&self, form: &Form) -> Term<'a> {
        let nodes: Vec<_> = (0..form.nodes.len())
            .map(|at| self.node(form, at))
            .collect();
        let edges: Vec<_> = form.edges.iter().map(|edge| self.edge(edge)).collect();
        self.map(&[
            (atoms::struct_key(), atoms::graph_struct().to_term(self.env)),
            (atoms::edges(), edges.encode(self.env)),
            (atoms::nodes(), nodes.encode(self.env)),
            (
                atoms::schema_version(),
                form.version.number().encode(self.env),
            ),
        ])
    }

    /// `%Edge{}`
    pub(super) fn edge(&self, edge: &Edge) -> Term<'a> {
        let words = &self.words;
        self.map(&[
            (atoms::struct_key(), atoms::edge_struct().to_term(self.env)),
            (atoms::from(), self.id(edge.from)),
            (atoms::kind(), words.edge_kinds.term(self.env, edge.kind)),
            (
                atoms::provenance(),
                words.provenances.term(self.env, edge.provenance),
            ),
            (atoms::sign(), words.signs.term(self.env, edge.sign)),
            (atoms::to(), self.id(edge.to)),
            (atoms::weight(), self.weight(edge.weight.as_ref())),
        ])
    }

    fn node(&self, form: &Form, at: usize) -> Term<'a> {
        let node = &form.nodes[at];
        let labels = node.labels.iter().map(|label| {
            let value = match &label.value {
                LabelValue::Text(text) => decode::binary(self.env, text.as_bytes()),
                LabelValue::Json(json) => decode::text(self.env, json),
            };
            (decode::binary(self.env, label.key.as_bytes()), value)
        });
        let labels: Vec<_> = labels.collect();
        let labels = Term::map_from_pairs(self.env, &labels).expect("the keys differ");
        self.map(&[
            (atoms::struct_key(), atoms::node_struct().to_term(self.env)),
            (atoms::id(), self.id(at as u32)),
            (
                atoms::kind(),
                self.words.node_kinds.term(self.env, node.kind),
            ),
            (atoms::labels(), labels),
            (atoms::level(), self.words.levels.term(self.env, node.level)),
        ])
    }

    fn weight(&self, weight: Option<&Weight>) -> Term<'a> {
        match weight {
            None => atom::nil().to_term(self.env),
            Some(Weight::Integer(integer)) => integer.encode(self.env),
            Some(Weight::Float(float)) => float.encode(self.env),
            Some(Weight::Big(digits)) => {
                let integer: BigInt = digits.parse().expect("the digits came from an integer");
                integer.encode(self.env)
            }
        }
    }

    pub(super) fn map(&self, pairs: &[(rustler::Atom, Term<'a>)]) -> Term<'a> {
        Term::map_from_pairs(self.env, pairs).expect("the keys differ")
    }
}
