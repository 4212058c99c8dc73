//! A graph whose parts were checked against each other, as it was given.

use ahash::AHashMap;

use crate::{EdgeKind, Level, NodeKind, Provenance, Sign, Version, Weight};

/// A node as it is given.
#[derive(Clone, Copy, Debug)]
pub struct GivenNode<'a> {
    /// Its id; bytes, since a host may give what is no text.
    pub id: &'a [u8],
    /// What it stands for.
    pub kind: NodeKind,
    /// How finely it was looked at.
    pub level: Level,
}

/// An edge as it is given.
#[derive(Clone, Debug)]
pub struct GivenEdge<'a> {
    /// The id of the node that talks.
    pub from: &'a [u8],
    /// The id of the node that is talked to.
    pub to: &'a [u8],
    /// How.
    pub kind: EdgeKind,
    /// Whether it can happen or did.
    pub provenance: Provenance,
    /// The host's verdict.
    pub sign: Sign,
    /// A measurement.
    pub weight: Option<Weight>,
}

/// Nodes in the order of their ids and edges in the order of from, to, kind and provenance, all by bytes.
///
/// Ids are compared as given here; what becomes equal or different in NFC is the business of
/// [`Form`](crate::Form).
#[derive(Clone, Debug)]
pub struct Graph {
    version: Version,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Where the edges from each node begin, and where those of the last one end.
    starts: Vec<u32>,
}

/// A node of a graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its id as given.
    pub id: Box<[u8]>,
    /// What it stands for.
    pub kind: NodeKind,
    /// How finely it was looked at.
    pub level: Level,
    /// Where it stood among the nodes given.
    pub place: u32,
}

/// An edge of a graph; its ends are positions among the graph's nodes.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The node that talks.
    pub from: u32,
    /// The node that is talked to.
    pub to: u32,
    /// How.
    pub kind: EdgeKind,
    /// Whether it can happen or did.
    pub provenance: Provenance,
    /// The host's verdict.
    pub sign: Sign,
    /// A measurement.
    pub weight: Option<Weight>,
    /// Where it stood among the edges given.
    pub place: u32,
}

/// Why nodes and edges make no graph.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GraphFault {
    /// Two nodes with one id.
    DuplicateNode(Vec<u8>),
    /// Two edges with one identity; the position of one of them among the edges given.
    DuplicateEdge(u32),
    /// An edge to or from a node that is not there.
    DanglingEdge(Vec<u8>),
}

impl Graph {
    /// A graph of the parts given, in any order.
    ///
    /// # Errors
    ///
    /// The first of: nodes with one id, edges with one identity, an edge without its node.
    pub fn new(
        version: Version,
        nodes: &[GivenNode<'_>],
        edges: &[GivenEdge<'_>],
    ) -> Result<Self, GraphFault> {
        let nodes = ordered_nodes(nodes);
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(GraphFault::DuplicateNode(pair[0].id.to_vec()));
        }
        let edges = joined(&nodes, edges)?;
        let edges = ordered(edges).map_err(GraphFault::DuplicateEdge)?;
        let starts = starts(nodes.len(), &edges);
        Ok(Self {
            version,
            nodes,
            edges,
            starts,
        })
    }

    /// The version that the graph follows.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The nodes in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The edges in order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges from a node, in order.
    pub fn edges_from(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The position of the node with this id.
    pub fn find(&self, id: &[u8]) -> Option<u32> {
        let found = self.nodes.binary_search_by(|node| (*node.id).cmp(id));
        found.ok().map(|at| at as u32)
    }
}

impl Edge {
    /// What makes two edges the same edge, in the order in which edges stand.
    pub(crate) fn key(&self) -> (u32, u32, EdgeKind, Provenance) {
        (self.from, self.to, self.kind, self.provenance)
    }
}

/// Edges in order, or the place of one that another equals.
pub(crate) fn ordered(mut edges: Vec<Edge>) -> Result<Vec<Edge>, u32> {
    edges.sort_unstable_by_key(Edge::key);
    match edges.windows(2).find(|pair| pair[0].key() == pair[1].key()) {
        Some(pair) => Err(pair[0].place),
        None => Ok(edges),
    }
}

fn ordered_nodes(given: &[GivenNode<'_>]) -> Vec<Node> {
    let mut places: Vec<u32> = (0..given.len() as u32).collect();
    places.sort_by_key(|place| given[*place as usize].id);
    let node = |place: u32| {
        let GivenNode { id, kind, level } = given[place as usize];
        Node {
            id: id.into(),
            kind,
            level,
            place,
        }
    };
    places.into_iter().map(node).collect()
}

/// Edges with the positions of their nodes in place of ids.
fn joined(nodes: &[Node], given: &[GivenEdge<'_>]) -> Result<Vec<Edge>, GraphFault> {
    // Two look-ups an edge are most of the work. This hash is keyed too: nobody chooses ids that collide.
    let positions: AHashMap<&[u8], u32> = nodes.iter().map(|node| &*node.id).zip(0..).collect();
    let mut edges = Vec::with_capacity(given.len());
    // Edges mostly come by the node that they lead from.
    let mut last: Option<(&[u8], u32)> = None;
    for (place, edge) in (0..).zip(given) {
        let same = last.filter(|(id, _)| *id == edge.from).map(|(_, at)| at);
        let from = same.or_else(|| positions.get(edge.from).copied());
        let (Some(from), Some(&to)) = (from, positions.get(edge.to)) else {
            return Err(unjoined(&positions, given));
        };
        last = Some((edge.from, from));
        edges.push(Edge {
            from,
            to,
            kind: edge.kind,
            provenance: edge.provenance,
            sign: edge.sign,
            weight: edge.weight.clone(),
            place,
        });
    }
    Ok(edges)
}

/// What to say where an edge has no node: equal edges come first.
fn unjoined(positions: &AHashMap<&[u8], u32>, given: &[GivenEdge<'_>]) -> GraphFault {
    let key = |place: usize| {
        let edge = &given[place];
        (edge.from, edge.to, edge.kind, edge.provenance)
    };
    let mut places: Vec<usize> = (0..given.len()).collect();
    places.sort_by_key(|place| key(*place));
    if let Some(pair) = places.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
        return GraphFault::DuplicateEdge(pair[0] as u32);
    }
    let ends = places
        .iter()
        .flat_map(|place| [given[*place].from, given[*place].to]);
    let missing = ends.into_iter().find(|id| !positions.contains_key(id));
    GraphFault::DanglingEdge(missing.unwrap_or_default().to_vec())
}

fn starts(nodes: usize, edges: &[Edge]) -> Vec<u32> {
    let mut starts = vec![0_u32; nodes + 1];
    for edge in edges {
        starts[edge.from as usize + 1] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: &[&str], edges: &[(&str, &str)]) -> Result<Graph, GraphFault> {
        let nodes: Vec<_> = nodes
            .iter()
            .map(|id| GivenNode {
                id: id.as_bytes(),
                kind: NodeKind::Tool,
                level: Level::Server,
            })
            .collect();
        let edges: Vec<_> = edges
            .iter()
            .map(|(from, to)| GivenEdge {
                from: from.as_bytes(),
                to: to.as_bytes(),
                kind: EdgeKind::Invoke,
                provenance: Provenance::Declared,
                sign: Sign::Unset,
                weight: None,
            })
            .collect();
        Graph::new(Version::V3, &nodes, &edges)
    }

    #[test]
    fn parts_stand_in_order() {
        let graph =
            graph(&["b", "a", "ab"], &[("b", "a"), ("a", "b"), ("a", "ab")]).expect("a graph");
        let ids: Vec<_> = graph.nodes().iter().map(|node| &*node.id).collect();
        assert_eq!(ids, [b"a".as_slice(), b"ab", b"b"]);
        let places: Vec<_> = graph.edges().iter().map(|edge| edge.place).collect();
        assert_eq!(places, [2, 1, 0]);
        assert_eq!(graph.edges_from(0).len(), 2);
        assert_eq!(graph.edges_from(1).len(), 0);
        assert_eq!(graph.find(b"b"), Some(2));
        assert_eq!(graph.find(b"c"), None);
    }

    #[test]
    fn faults_have_an_order() {
        let fault =
            |nodes: &[&str], edges: &[(&str, &str)]| graph(nodes, edges).expect_err("a fault");
        let twice = [("a", "x"), ("a", "a"), ("a", "x")];
        assert_eq!(
            fault(&["a", "a"], &twice),
            GraphFault::DuplicateNode(b"a".to_vec())
        );
        assert!(matches!(
            fault(&["a"], &twice),
            GraphFault::DuplicateEdge(0 | 2)
        ));
        assert!(matches!(
            fault(&["a", "x"], &twice),
            GraphFault::DuplicateEdge(0 | 2)
        ));
        assert_eq!(
            fault(&["a"], &[("y", "a"), ("a", "x")]),
            GraphFault::DanglingEdge(b"x".to_vec())
        );
    }
}
