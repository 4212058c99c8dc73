//! Canonical bytes read back: what they say about themselves, and whether they are what they claim.

use std::borrow::Cow;

use bytes::Bytes;
use mcp_canonical::{Algorithm, MAX_DEPTH};
use mcp_json::{Document, Kind, Limits, Node};

use crate::federation::{Federation, MergeFault};
use crate::{
    EdgeKind, Form, GivenEdge, GivenNode, Graph, GraphFault, Level, NodeKind, Provenance, Refusal,
    Version,
};

/// Bytes whose version and digest are known; the rest is not looked at yet.
#[derive(Clone, Debug)]
pub struct Envelope {
    document: Document,
    schema: Schema,
    algorithm: Algorithm,
}

/// What kind of record bytes are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Schema {
    /// A graph.
    Graph(Version),
    /// The graphs of several nodes.
    Federation,
}

/// What canonical bytes hold.
#[derive(Clone, Debug)]
pub enum Content {
    /// A graph.
    Graph(Form),
    /// The graphs of several nodes.
    Federation(Federation),
}

/// Why bytes are no canonical record.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordFault {
    /// They do not have the members of their version, or are no JSON.
    Malformed(String),
    /// A version that does not exist, as it stands there.
    Version(String),
    /// A field with a value out of its vocabulary, as it stands there.
    Field {
        /// The field.
        name: &'static str,
        /// Its JSON.
        value: String,
    },
    /// Two nodes with one id.
    DuplicateNode(String),
    /// Two edges with one identity.
    DuplicateEdge {
        /// The node that talks.
        from: String,
        /// The node that is talked to.
        to: String,
        /// How.
        kind: EdgeKind,
        /// Whether it can happen or did.
        provenance: Provenance,
    },
    /// An edge to or from a node that is not there.
    DanglingEdge(String),
    /// The graph has no canonical bytes; a value at fault is its JSON.
    Form(Refusal<String>),
    /// A part of a federation does not have the digest that its member names.
    PartDigest {
        /// The member.
        member: String,
        /// The digest that the part has.
        digest: String,
    },
    /// The parts make no federation.
    Merge(MergeFault),
    /// The canonical bytes differ from these at an offset.
    NotCanonical(usize),
}

impl Envelope {
    /// Reads the envelope.
    ///
    /// # Errors
    ///
    /// [`RecordFault::Malformed`] and [`RecordFault::Version`].
    pub fn read(bytes: Bytes) -> Result<Self, RecordFault> {
        let document = Document::parse(bytes, &LIMITS).map_err(malformed)?;
        let schema = schema(document.root())?;
        let algorithm = algorithm(document.root(), schema)?;
        Ok(Self {
            document,
            schema,
            algorithm,
        })
    }

    /// The kind of record.
    pub fn schema(&self) -> Schema {
        self.schema
    }

    /// The digest that the bytes name, or that their version implies.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The digest of the bytes as they are held.
    pub fn digest(&self) -> String {
        self.algorithm.hexadecimal(self.document.bytes())
    }

    /// What the bytes hold, if they are canonical.
    ///
    /// # Errors
    ///
    /// What is wrong first: a field, the graph, its form; then the first byte that would be written differently.
    pub fn content(&self) -> Result<Content, RecordFault> {
        let (content, bytes) = match self.schema {
            Schema::Graph(version) => {
                let form = form(self.document.root(), version)?;
                let bytes = form.bytes(self.algorithm);
                (Content::Graph(form), bytes)
            }
            Schema::Federation => {
                let federation = Federation::read(self.document.root())?;
                let bytes = federation.write(self.algorithm, Vec::new());
                (Content::Federation(federation), bytes)
            }
        };
        same(self.document.bytes(), &bytes)?;
        Ok(content)
    }
}

/// What bytes may hold: a little deeper than labels are, and integers of as many digits as anybody writes. Reading
/// digits takes time by the square of their number.
const LIMITS: Limits = Limits {
    max_depth: MAX_DEPTH + 8,
    max_number_digits: 160_000,
};

fn schema(root: Node<'_>) -> Result<Schema, RecordFault> {
    let number = member(root, "schema_version")?;
    match number.raw() {
        "1" => Ok(Schema::Graph(Version::V1)),
        "2" => Ok(Schema::Graph(Version::V2)),
        "3" => Ok(Schema::Graph(Version::V3)),
        "4" => Ok(Schema::Federation),
        other => Err(RecordFault::Version(other.to_owned())),
    }
}

fn algorithm(root: Node<'_>, schema: Schema) -> Result<Algorithm, RecordFault> {
    let named = root.get("algorithm");
    match (schema, named) {
        (Schema::Graph(version), None) if !version.names_algorithm() => Ok(Algorithm::Sha256),
        (Schema::Graph(version), Some(_)) if !version.names_algorithm() => {
            let number = version.number();
            Err(malformed(format!(
                "version {number} has no member \"algorithm\""
            )))
        }
        (_, None) => Err(malformed("the member \"algorithm\" is missing")),
        (_, Some(name)) => {
            let algorithm = name.as_str().as_deref().and_then(Algorithm::from_name);
            let unknown = || malformed(format!("{} is no algorithm that is known", name.raw()));
            algorithm.ok_or_else(unknown)
        }
    }
}

/// The form of the graph whose members are `nodes` and `edges` of an object.
fn form(root: Node<'_>, version: Version) -> Result<Form, RecordFault> {
    let nodes: Vec<_> = array(root, "nodes")?
        .map(ReadNode::read)
        .collect::<Result<_, _>>()?;
    let edges = array(root, "edges")?.map(|edge| ReadEdge::read(edge, version));
    let edges: Vec<_> = edges.collect::<Result<_, _>>()?;
    graph(version, &nodes, &edges)
}

/// The form of nodes and edges that were read.
pub(crate) fn graph(
    version: Version,
    nodes: &[ReadNode<'_>],
    edges: &[ReadEdge<'_>],
) -> Result<Form, RecordFault> {
    let given_nodes: Vec<_> = nodes.iter().map(ReadNode::given).collect();
    let given_edges: Vec<_> = edges.iter().map(ReadEdge::given).collect();
    let graph = Graph::new(version, &given_nodes, &given_edges);
    let graph = graph.map_err(|fault| graph_fault(fault, edges))?;
    let form = Form::new(&graph, |place| nodes[place as usize].labels);
    form.map_err(|refusal| RecordFault::Form(refusal.map(|value| value.raw().to_owned())))
}

fn graph_fault(fault: GraphFault, edges: &[ReadEdge<'_>]) -> RecordFault {
    let text = |id: Vec<u8>| String::from_utf8_lossy(&id).into_owned();
    match fault {
        GraphFault::DuplicateNode(id) => RecordFault::DuplicateNode(text(id)),
        GraphFault::DanglingEdge(id) => RecordFault::DanglingEdge(text(id)),
        GraphFault::DuplicateEdge(place) => {
            let edge = &edges[place as usize];
            RecordFault::DuplicateEdge {
                from: edge.from.to_string(),
                to: edge.to.to_string(),
                kind: edge.kind,
                provenance: edge.provenance,
            }
        }
    }
}

/// A node of a record.
pub(crate) struct ReadNode<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) kind: NodeKind,
    pub(crate) level: Level,
    pub(crate) labels: Node<'a>,
}

impl<'a> ReadNode<'a> {
    pub(crate) fn read(node: Node<'a>) -> Result<Self, RecordFault> {
        let labels = member(node, "labels")?;
        if labels.kind() != Kind::Object {
            return Err(field("labels", labels));
        }
        Ok(Self {
            id: text(node, "id")?,
            kind: word(node, "kind", NodeKind::from_name)?,
            level: word(node, "level", Level::from_name)?,
            labels,
        })
    }

    fn given(&self) -> GivenNode<'_> {
        GivenNode {
            id: self.id.as_bytes(),
            kind: self.kind,
            level: self.level,
        }
    }
}

/// An edge of a record.
pub(crate) struct ReadEdge<'a> {
    pub(crate) from: Cow<'a, str>,
    pub(crate) to: Cow<'a, str>,
    pub(crate) kind: EdgeKind,
    pub(crate) provenance: Provenance,
    pub(crate) sign: crate::Sign,
}

impl<'a> ReadEdge<'a> {
    pub(crate) fn read(edge: Node<'a>, version: Version) -> Result<Self, RecordFault> {
        Ok(Self {
            from: text(edge, "from")?,
            to: text(edge, "to")?,
            kind: word(edge, "kind", EdgeKind::from_name)?,
            provenance: word(edge, "provenance", Provenance::from_name)?,
            sign: word(edge, "sign", |word| version.sign(word))?,
        })
    }

    fn given(&self) -> GivenEdge<'_> {
        GivenEdge {
            from: self.from.as_bytes(),
            to: self.to.as_bytes(),
            kind: self.kind,
            provenance: self.provenance,
            sign: self.sign,
            weight: None,
        }
    }
}

pub(crate) fn array<'a>(
    node: Node<'a>,
    name: &'static str,
) -> Result<impl Iterator<Item = Node<'a>>, RecordFault> {
    let array = member(node, name)?;
    match array.kind() {
        Kind::Array => Ok(array.items()),
        _ => Err(malformed(format!("the member {name:?} is no array"))),
    }
}

pub(crate) fn member<'a>(node: Node<'a>, name: &'static str) -> Result<Node<'a>, RecordFault> {
    let missing = || malformed(format!("the member {name:?} is missing"));
    node.get(name).ok_or_else(missing)
}

pub(crate) fn text<'a>(node: Node<'a>, name: &'static str) -> Result<Cow<'a, str>, RecordFault> {
    let value = member(node, name)?;
    value.as_str().ok_or_else(|| field(name, value))
}

pub(crate) fn word<T>(
    node: Node<'_>,
    name: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, RecordFault> {
    let value = member(node, name)?;
    let word = value.as_str().and_then(|word| read(&word));
    word.ok_or_else(|| field(name, value))
}

pub(crate) fn field(name: &'static str, value: Node<'_>) -> RecordFault {
    let value = value.raw().to_owned();
    RecordFault::Field { name, value }
}

pub(crate) fn malformed(what: impl ToString) -> RecordFault {
    RecordFault::Malformed(what.to_string())
}

fn same(held: &[u8], canonical: &[u8]) -> Result<(), RecordFault> {
    if held == canonical {
        return Ok(());
    }
    let differs = held
        .iter()
        .zip(canonical)
        .position(|(left, right)| left != right);
    let offset = differs.unwrap_or(held.len().min(canonical.len()));
    Err(RecordFault::NotCanonical(offset))
}
