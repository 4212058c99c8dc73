//! What reaches what, asked of terms or of an index.

use mcp_connectome::{
    Edge, Graph, NodeKind,
    reach::{Admitted, Dominators, Search},
};
use rustler::{Atom, Encoder, Env, ResourceArc, Term, types::atom};

use super::{
    built::Builder, given::Given, index::GraphIndex, label::bytes, refusal::Refused, words::Words,
};
use crate::atoms;

/// `connectome_path/6`: `{:ok, nodes, edges}`, `:none`, or a refusal.
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_path<'a>(
    env: Env<'a>,
    source: Term<'a>,
    from: Term<'a>,
    to: Term<'a>,
    gates: Vec<Term<'a>>,
    along: (Vec<Atom>, Vec<Atom>),
    max_hops: Option<usize>,
) -> Term<'a> {
    let answer = Asked::read(source).and_then(|asked| {
        let graph = asked.graph();
        let [from, to] = [find(graph, from)?, find(graph, to)?];
        let gates: Vec<_> = gates
            .iter()
            .map(|gate| find(graph, *gate))
            .collect::<Result<_, _>>()?;
        let search = Search {
            admitted: &admitted(env, &along),
            gates: &gates,
            max_hops,
        };
        let Some(path) = search.path(graph, from, to) else {
            return Ok(atoms::none().to_term(env));
        };
        let builder = Builder::of_graph(env, graph);
        let nodes: Vec<_> = path.nodes.iter().map(|node| builder.id(*node)).collect();
        let edges: Vec<_> = path
            .edges
            .iter()
            .map(|edge| asked.edge(&builder, edge))
            .collect();
        Ok((atom::ok(), nodes, edges).encode(env))
    });
    answer.unwrap_or_else(|refused| refused.of_query(env))
}

/// `connectome_dominators/5`: the ids that every path from the entries to a target passes, or a refusal. `known` are
/// nodes that have to be there too; the entries are the servers where none are named.
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_dominators<'a>(
    env: Env<'a>,
    source: Term<'a>,
    target: Term<'a>,
    known: Vec<Term<'a>>,
    entries: Option<Vec<Term<'a>>>,
    along: (Vec<Atom>, Vec<Atom>),
) -> Term<'a> {
    let answer = Asked::read(source).and_then(|asked| {
        let graph = asked.graph();
        let entries = entries_of(env, graph, entries)?;
        for node in known {
            find(graph, node)?;
        }
        let found = find(graph, target)?;
        let dominators = Dominators::new(graph, &admitted(env, &along), &entries);
        let Some(nodes) = dominators.of(found) else {
            return Err(Refused::Query((atoms::unreachable(), target).encode(env)));
        };
        let builder = Builder::of_graph(env, graph);
        let nodes: Vec<_> = nodes.iter().map(|node| builder.id(*node)).collect();
        Ok((atom::ok(), nodes).encode(env))
    });
    answer.unwrap_or_else(|refused| refused.of_query(env))
}

/// A graph as it was given; the form of terms is nobody's business here.
enum Asked<'a> {
    Index(ResourceArc<GraphIndex>),
    Given(Graph, Given<'a>),
}

impl<'a> Asked<'a> {
    fn read(source: Term<'a>) -> Result<Self, Refused<'a>> {
        if let Ok(index) = source.decode() {
            return Ok(Self::Index(index));
        }
        let given = Given::read(source)?;
        Ok(Self::Given(given.graph()?, given))
    }

    fn graph(&self) -> &Graph {
        match self {
            Self::Index(index) => index.graph(),
            Self::Given(graph, _) => graph,
        }
    }

    /// The edge as it was given, or one like it.
    fn edge(&self, builder: &Builder<'a, '_>, edge: &Edge) -> Term<'a> {
        match self {
            Self::Index(_) => builder.edge(edge),
            Self::Given(_, given) => given.edge(edge.place),
        }
    }
}

fn find<'a>(graph: &Graph, id: Term<'a>) -> Result<u32, Refused<'a>> {
    let found = bytes(id).and_then(|id| graph.find(id));
    found.ok_or_else(|| Refused::Query((atoms::unknown_node(), id).encode(id.get_env())))
}

fn entries_of<'a>(
    env: Env<'a>,
    graph: &Graph,
    named: Option<Vec<Term<'a>>>,
) -> Result<Vec<u32>, Refused<'a>> {
    if let Some(named) = named {
        return named.into_iter().map(|entry| find(graph, entry)).collect();
    }
    let nodes = (0..).zip(graph.nodes());
    let servers = nodes.filter(|(_, node)| node.kind == NodeKind::Server);
    let servers: Vec<u32> = servers.map(|(at, _)| at).collect();
    if servers.is_empty() {
        let none = Term::list_new_empty(env);
        let reason = (atoms::invalid(), atoms::entries(), none).encode(env);
        return Err(Refused::Query(reason));
    }
    Ok(servers)
}

/// Kinds and signs that the BEAM has checked.
fn admitted(env: Env<'_>, (kinds, without): &(Vec<Atom>, Vec<Atom>)) -> Admitted {
    let words = Words::new(env);
    let kinds = kinds
        .iter()
        .filter_map(|kind| words.edge_kinds.read(kind.to_term(env)));
    let without = without
        .iter()
        .filter_map(|sign| words.signs.read(sign.to_term(env)));
    Admitted {
        kinds: kinds.collect(),
        without: without.collect(),
    }
}
