//! Graphs as terms, read field by field in the order in which faults are named.

use mcp_connectome::{Form, GivenEdge, GivenNode, Graph, Version, Weight};
use rustler::{Atom, Term, types::atom};

use super::{
    label::{Label, bytes, digits},
    refusal::Refused,
    words::Words,
};
use crate::atoms;

/// The parts of a `%Graph{}`, each sound by itself.
pub(super) struct Given<'a> {
    graph: Term<'a>,
    version: Version,
    nodes: Vec<GivenNode<'a>>,
    edges: Vec<GivenEdge<'a>>,
    node_terms: Vec<Term<'a>>,
    edge_terms: Vec<Term<'a>>,
}

impl<'a> Given<'a> {
    /// Reads a `%Graph{}`, whose fields may hold anything.
    pub(super) fn read(graph: Term<'a>) -> Result<Self, Refused<'a>> {
        let version = version(graph)?;
        let node_terms = structs(graph, atoms::nodes(), atoms::node_struct())?;
        let edge_terms = structs(graph, atoms::edges(), atoms::edge_struct())?;
        let words = Words::new(graph.get_env());
        let nodes = each(&node_terms, |term| node(term, &words))?;
        let edges = each(&edge_terms, |term| edge(term, version, &words))?;
        Ok(Self {
            graph,
            version,
            nodes,
            edges,
            node_terms,
            edge_terms,
        })
    }

    /// The graph of the parts.
    pub(super) fn graph(&self) -> Result<Graph, Refused<'a>> {
        Graph::new(self.version, &self.nodes, &self.edges)
            .map_err(|fault| Refused::graph(self.graph, fault, |place| self.edge(place)))
    }

    /// The graph, and its canonical form.
    pub(super) fn form(&self) -> Result<(Graph, Form), Refused<'a>> {
        let graph = self.graph()?;
        let form = Form::new(&graph, |place| self.labels(place));
        let form = form
            .map_err(|refusal| Refused::form(self.graph.get_env(), refusal.map(|value| value.0)))?;
        Ok((graph, form))
    }

    /// The node that stood at a place.
    pub(super) fn node(&self, place: u32) -> Term<'a> {
        self.node_terms[place as usize]
    }

    /// The edge that stood at a place.
    pub(super) fn edge(&self, place: u32) -> Term<'a> {
        self.edge_terms[place as usize]
    }

    fn labels(&self, place: u32) -> Label<'a> {
        Label(field(self.node(place), atoms::labels()))
    }
}

/// A field of a struct; `nil` where a hand-written one has none.
pub(super) fn field(term: Term<'_>, name: Atom) -> Term<'_> {
    let nil = || atom::nil().to_term(term.get_env());
    term.map_get(name).unwrap_or_else(|_| nil())
}

fn version(graph: Term<'_>) -> Result<Version, Refused<'_>> {
    let number = field(graph, atoms::schema_version());
    let version = number.decode().ok().and_then(Version::from_number);
    version.ok_or_else(|| Refused::invalid(atoms::schema_version(), number))
}

/// What `read` makes of every term, in room that is taken once: there may be many.
fn each<'a, T>(
    terms: &[Term<'a>],
    read: impl Fn(Term<'a>) -> Result<T, Refused<'a>>,
) -> Result<Vec<T>, Refused<'a>> {
    let mut parts = Vec::with_capacity(terms.len());
    for term in terms {
        parts.push(read(*term)?);
    }
    Ok(parts)
}

/// The items of a list that holds structs of one kind and nothing else.
fn structs(graph: Term<'_>, name: Atom, kind: Atom) -> Result<Vec<Term<'_>>, Refused<'_>> {
    let list = field(graph, name);
    let mut items = Vec::with_capacity(list.list_length().unwrap_or_default());
    let mut rest = list;
    while let Ok((item, tail)) = rest.list_get_cell() {
        if !item
            .map_get(atoms::struct_key())
            .is_ok_and(|found| kind == found)
        {
            return Err(Refused::invalid(name, list));
        }
        items.push(item);
        rest = tail;
    }
    if rest.is_empty_list() {
        Ok(items)
    } else {
        Err(Refused::invalid(name, list))
    }
}

fn node<'a>(node: Term<'a>, words: &Words) -> Result<GivenNode<'a>, Refused<'a>> {
    let id = read(node, atoms::id(), bytes)?;
    let kind = read(node, atoms::kind(), |term| words.node_kinds.read(term))?;
    let level = read(node, atoms::level(), |term| words.levels.read(term))?;
    read(node, atoms::labels(), |term| {
        is_plain_map(term).then_some(())
    })?;
    Ok(GivenNode { id, kind, level })
}

fn edge<'a>(edge: Term<'a>, version: Version, words: &Words) -> Result<GivenEdge<'a>, Refused<'a>> {
    Ok(GivenEdge {
        from: read(edge, atoms::from(), bytes)?,
        to: read(edge, atoms::to(), bytes)?,
        kind: read(edge, atoms::kind(), |term| words.edge_kinds.read(term))?,
        provenance: read(edge, atoms::provenance(), |term| {
            words.provenances.read(term)
        })?,
        weight: match field(edge, atoms::weight()) {
            none if atom::nil() == none => None,
            _ => Some(read(edge, atoms::weight(), weight)?),
        },
        sign: read(edge, atoms::sign(), |term| {
            let sign = words.signs.read(term)?;
            version.has(sign).then_some(sign)
        })?,
    })
}

/// A field that `read` can make something of.
fn read<'a, T>(
    term: Term<'a>,
    name: Atom,
    read: impl FnOnce(Term<'a>) -> Option<T>,
) -> Result<T, Refused<'a>> {
    let value = field(term, name);
    read(value).ok_or_else(|| Refused::invalid(name, value))
}

fn is_plain_map(term: Term<'_>) -> bool {
    term.is_map() && term.map_get(atoms::struct_key()).is_err()
}

/// A number that is not negative.
fn weight(term: Term<'_>) -> Option<Weight> {
    if let Ok(integer) = term.decode() {
        return Some(Weight::Integer(integer));
    }
    if term.is_integer() {
        let digits = digits(term).filter(|digits| !digits.starts_with('-'))?;
        return Some(Weight::Big(digits.into()));
    }
    let float: f64 = term.decode().ok()?;
    (float >= 0.0).then_some(Weight::Float(float))
}
