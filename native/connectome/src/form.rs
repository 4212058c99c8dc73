//! The canonical form of a graph: what its bytes say, in their order.

use std::borrow::Cow;

use mcp_canonical::{KeyFault, Shape, Uncanonical, Value, Writer, nfc, sorted};

use crate::graph::{Edge, Graph, ordered};
use crate::{Level, NodeKind, Version};

/// A graph whose texts are in NFC and whose labels are written. Whatever it holds has bytes.
#[derive(Clone, Debug)]
pub struct Form {
    /// The version that the graph follows.
    pub version: Version,
    /// The nodes by id.
    pub nodes: Vec<FormNode>,
    /// The edges by from, to, kind and provenance; their ends are positions among the nodes here.
    pub edges: Vec<Edge>,
}

/// A node as its bytes have it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FormNode {
    /// Its id.
    pub id: Box<str>,
    /// What it stands for.
    pub kind: NodeKind,
    /// How finely it was looked at.
    pub level: Level,
    /// Its labels by UTF-16 code units.
    pub labels: Vec<Label>,
}

/// One label of a node.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Label {
    /// Its key.
    pub key: Box<str>,
    /// Its value.
    pub value: LabelValue,
}

/// What a label says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LabelValue {
    /// A string.
    Text(Box<str>),
    /// The canonical JSON of anything else.
    Json(Box<str>),
}

/// Why a graph has no canonical bytes. Ids are in NFC, but where they are not UTF-8.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal<V> {
    /// Two ids that are equal in NFC.
    DuplicateId(String),
    /// An id that is not UTF-8.
    IdNotUtf8(Vec<u8>),
    /// A label's key that is not UTF-8.
    KeyNotUtf8 {
        /// The node.
        id: String,
        /// The key.
        key: Vec<u8>,
    },
    /// A label that is a string and not UTF-8.
    TextNotUtf8 {
        /// The node.
        id: String,
        /// The label.
        label: String,
    },
    /// A label's key that names nothing.
    LabelKey {
        /// The node.
        id: String,
        /// The key.
        key: V,
    },
    /// Two keys of labels that are equal in NFC.
    DuplicateLabelKey {
        /// The node.
        id: String,
        /// The key.
        key: String,
    },
    /// A label that has no bytes, or has something inside that has none.
    LabelValue {
        /// The node.
        id: String,
        /// The label.
        label: String,
        /// The whole value.
        value: V,
    },
}

impl Form {
    /// The form of a graph, where `labels` answers with the labels of the node that stood at a place among those
    /// given.
    ///
    /// # Errors
    ///
    /// What has no bytes: first the ids by their bytes, then the labels, node by node; of one node first its
    /// keys and then its values, in the order in which they would be written.
    pub fn new<'a, V: Value<'a>>(
        graph: &Graph,
        labels: impl Fn(u32) -> V,
    ) -> Result<Self, Refusal<V>> {
        let ids = ids(graph)?;
        let ranks = ranks(&ids)?;
        let mut nodes = Vec::with_capacity(ids.len());
        for position in inverse(&ranks) {
            let node = &graph.nodes()[position as usize];
            let id = &ids[position as usize];
            nodes.push(FormNode {
                id: (&**id).into(),
                kind: node.kind,
                level: node.level,
                labels: self::labels(id, labels(node.place))?,
            });
        }
        Ok(Self {
            version: graph.version(),
            nodes,
            edges: renumbered(graph, &ranks),
        })
    }

    /// The position of the node with this id, which is in NFC.
    pub fn find(&self, id: &str) -> Option<u32> {
        let found = self.nodes.binary_search_by(|node| (*node.id).cmp(id));
        found.ok().map(|at| at as u32)
    }

    /// The id of the node at a position.
    pub fn id(&self, node: u32) -> &str {
        &self.nodes[node as usize].id
    }
}

impl<V> Refusal<V> {
    /// The same with what `of` makes of the value at fault.
    pub fn map<T>(self, of: impl FnOnce(V) -> T) -> Refusal<T> {
        match self {
            Self::DuplicateId(id) => Refusal::DuplicateId(id),
            Self::IdNotUtf8(id) => Refusal::IdNotUtf8(id),
            Self::KeyNotUtf8 { id, key } => Refusal::KeyNotUtf8 { id, key },
            Self::TextNotUtf8 { id, label } => Refusal::TextNotUtf8 { id, label },
            Self::LabelKey { id, key } => Refusal::LabelKey { id, key: of(key) },
            Self::DuplicateLabelKey { id, key } => Refusal::DuplicateLabelKey { id, key },
            Self::LabelValue { id, label, value } => Refusal::LabelValue {
                id,
                label,
                value: of(value),
            },
        }
    }
}

impl LabelValue {
    /// Writes the value.
    pub(crate) fn write<S: mcp_canonical::Sink>(&self, writer: &mut Writer<S>) {
        match self {
            Self::Text(text) => writer.string(text),
            Self::Json(json) => writer.raw(&**json),
        }
    }
}

fn ids<V>(graph: &Graph) -> Result<Vec<Cow<'_, str>>, Refusal<V>> {
    let mut ids = Vec::with_capacity(graph.nodes().len());
    for node in graph.nodes() {
        ids.push(nfc(&node.id).ok_or_else(|| Refusal::IdNotUtf8(node.id.to_vec()))?);
    }
    Ok(ids)
}

/// The position of each id in the order of the ids.
fn ranks<V>(ids: &[Cow<'_, str>]) -> Result<Vec<u32>, Refusal<V>> {
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    let id = |position: u32| &ids[position as usize];
    order.sort_by_key(|position| id(*position));
    if let Some(pair) = order.windows(2).find(|pair| id(pair[0]) == id(pair[1])) {
        return Err(Refusal::DuplicateId(id(pair[0]).to_string()));
    }
    Ok(inverse(&order))
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, position) in (0..).zip(order) {
        ranks[*position as usize] = rank;
    }
    ranks
}

/// The edges with their ends by rank.
fn renumbered(graph: &Graph, ranks: &[u32]) -> Vec<Edge> {
    let mut edges = graph.edges().to_vec();
    if ranks.is_sorted() {
        return edges;
    }
    for edge in &mut edges {
        edge.from = ranks[edge.from as usize];
        edge.to = ranks[edge.to as usize];
    }
    ordered(edges).expect("edges that differ keep to differ when their nodes are renumbered")
}

fn labels<'a, V: Value<'a>>(id: &str, labels: V) -> Result<Vec<Label>, Refusal<V>> {
    let Shape::Object(members) = labels.shape() else {
        return Ok(Vec::new());
    };
    let members = sorted(members).map_err(|fault| refused_key(id, fault))?;
    let label = |(key, value)| label(id, key, value);
    members.into_iter().map(label).collect()
}

fn label<'a, V: Value<'a>>(id: &str, key: Cow<'_, str>, value: V) -> Result<Label, Refusal<V>> {
    let (id, key) = (|| id.to_owned(), key.into_owned());
    let value = match value.shape() {
        Shape::Text(text) => match nfc(&text) {
            Some(text) => LabelValue::Text((&*text).into()),
            None => {
                return Err(Refusal::TextNotUtf8 {
                    id: id(),
                    label: key,
                });
            }
        },
        _ => match json(value) {
            Ok(json) => LabelValue::Json(json),
            Err(Uncanonical) => {
                return Err(Refusal::LabelValue {
                    id: id(),
                    label: key,
                    value,
                });
            }
        },
    };
    Ok(Label {
        key: key.into(),
        value,
    })
}

fn json<'a, V: Value<'a>>(value: V) -> Result<Box<str>, Uncanonical> {
    let mut writer = Writer::new(Vec::new());
    writer.value(value)?;
    let json = String::from_utf8(writer.finish()).expect("the writer writes UTF-8");
    Ok(json.into())
}

fn refused_key<V>(id: &str, fault: KeyFault<V>) -> Refusal<V> {
    let id = id.to_owned();
    match fault {
        KeyFault::NoName(key) => Refusal::LabelKey { id, key },
        KeyFault::NotUtf8(key) => Refusal::KeyNotUtf8 { id, key },
        KeyFault::Twice(key) => Refusal::DuplicateLabelKey { id, key },
    }
}
