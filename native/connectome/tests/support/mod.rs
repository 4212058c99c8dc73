//! The vectors of `test/fixtures/connectome`, with their notation for what JSON cannot say.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::borrow::Cow;
use std::path::PathBuf;

use mcp_canonical::{Key, Shape, Value};
use mcp_connectome::{
    EdgeKind, Form, GivenEdge, GivenNode, Graph, GraphFault, Level, NodeKind, Provenance, Refusal,
    Version, Weight,
};
use mcp_json::{Document, Kind, Limits, Node, Number};

/// A file of vectors.
pub fn vectors(name: &str) -> Document {
    let bytes =
        std::fs::read(folder().join(format!("{name}.json"))).expect("the vectors are there");
    Document::parse(bytes.into(), &Limits::default()).expect("the vectors are JSON")
}

pub fn raw(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("{name}.bin"))).expect("the vectors are there")
}

pub fn text<'a>(node: Node<'a>, name: &str) -> Cow<'a, str> {
    node.get(name).and_then(Node::as_str).unwrap_or_default()
}

/// Why an input is refused.
#[derive(Debug)]
pub enum Fault<'a> {
    Field(&'static str),
    Graph(GraphFault),
    Form(Refusal<Noted<'a>>),
}

/// A graph of the vectors.
pub fn form(input: Node<'_>) -> Result<Form, Fault<'_>> {
    let parts = Parts::read(input)?;
    let graph = parts.graph().map_err(Fault::Graph)?;
    Form::new(&graph, |place| parts.nodes[place as usize].3).map_err(Fault::Form)
}

struct Parts<'a> {
    version: Version,
    nodes: Vec<(Cow<'a, str>, NodeKind, Level, Noted<'a>)>,
    edges: Vec<(Cow<'a, str>, Cow<'a, str>, EdgeKind, Node<'a>)>,
}

impl<'a> Parts<'a> {
    fn read(input: Node<'a>) -> Result<Self, Fault<'a>> {
        let version = input.get("schema_version").and_then(Node::number);
        let version = match version {
            Some(Number::Integer(number)) => Version::from_number(number),
            _ => None,
        };
        let field = |name| move || Fault::Field(name);
        let mut parts = Self {
            version: version.ok_or_else(field("schema_version"))?,
            nodes: Vec::new(),
            edges: Vec::new(),
        };
        for node in input.get("nodes").expect("nodes").items() {
            let kind = NodeKind::from_name(&text(node, "kind")).ok_or_else(field("kind"))?;
            let level = Level::from_name(&text(node, "level")).ok_or_else(field("level"))?;
            let labels = Noted(node.get("labels").expect("labels"));
            parts.nodes.push((text(node, "id"), kind, level, labels));
        }
        for edge in input.get("edges").expect("edges").items() {
            let kind = EdgeKind::from_name(&text(edge, "kind")).ok_or_else(field("kind"))?;
            let sign = parts.version.sign(&text(edge, "sign"));
            sign.ok_or_else(field("sign"))?;
            if edge
                .get("weight")
                .is_some_and(|weight| weight.raw().starts_with('-'))
            {
                return Err(Fault::Field("weight"));
            }
            parts
                .edges
                .push((text(edge, "from"), text(edge, "to"), kind, edge));
        }
        Ok(parts)
    }

    fn graph(&self) -> Result<Graph, GraphFault> {
        let nodes = self.nodes.iter().map(|(id, kind, level, _)| GivenNode {
            id: id.as_bytes(),
            kind: *kind,
            level: *level,
        });
        let edges = self.edges.iter().map(|(from, to, kind, edge)| GivenEdge {
            from: from.as_bytes(),
            to: to.as_bytes(),
            kind: *kind,
            provenance: Provenance::from_name(&text(*edge, "provenance")).expect("provenance"),
            sign: self.version.sign(&text(*edge, "sign")).expect("checked"),
            weight: edge.get("weight").map(weight),
        });
        Graph::new(
            self.version,
            &nodes.collect::<Vec<_>>(),
            &edges.collect::<Vec<_>>(),
        )
    }
}

fn weight(node: Node<'_>) -> Weight {
    if let Some(hexadecimal) = node.get("$float").and_then(Node::as_str) {
        return Weight::Float(float(&hexadecimal));
    }
    let digits = node
        .get("$int")
        .and_then(Node::as_str)
        .unwrap_or(node.raw().into());
    match digits.parse() {
        Ok(integer) => Weight::Integer(integer),
        Err(_) => Weight::Big((&*digits).into()),
    }
}

/// IEEE 754 as C writes it: `-0x1.8p+3`.
pub fn float(text: &str) -> f64 {
    let (sign, rest) = text
        .strip_prefix('-')
        .map_or((1.0, text), |rest| (-1.0, rest));
    let (mantissa, exponent) = rest.trim_start_matches("0x").split_once('p').expect("p");
    let (whole, fraction) = mantissa.split_once('.').expect("a point");
    let digits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).expect("digits");
    let exponent: i32 = exponent.parse().expect("an exponent");
    // Scaled in two steps, since the smallest exponents are beyond one.
    let exponent = exponent - 4 * fraction.len() as i32;
    let (first, second) = (exponent / 2, exponent - exponent / 2);
    sign * digits as f64 * 2_f64.powi(first) * 2_f64.powi(second)
}

/// A value in the notation of the vectors.
#[derive(Clone, Copy, Debug)]
pub struct Noted<'a>(pub Node<'a>);

impl<'a> Value<'a> for Noted<'a> {
    fn shape(self) -> Shape<'a, Self> {
        let noted = |name| self.0.get(name);
        if let Some(digits) = noted("$int").and_then(Node::as_str) {
            return Shape::Big(digits);
        }
        if noted("$float").is_some() {
            return Shape::Other;
        }
        if let Some(bytes) = ill_formed(self.0) {
            return Shape::Text(bytes.into());
        }
        if let Some(pairs) = noted("$pairs") {
            let pair = |pair: Node<'a>| {
                let mut items = pair.items();
                let (key, value) = (items.next().expect("a key"), items.next().expect("a value"));
                (key_of(key), Noted(value))
            };
            return Shape::Object(pairs.items().map(pair).collect());
        }
        match self.0.shape() {
            Shape::Null => Shape::Null,
            Shape::Bool(boolean) => Shape::Bool(boolean),
            Shape::Integer(integer) => Shape::Integer(integer),
            Shape::Big(digits) => Shape::Big(digits),
            Shape::Text(text) => Shape::Text(text),
            Shape::Array(items) => Shape::Array(items.into_iter().map(Noted).collect()),
            Shape::Object(_) => Shape::Object(
                self.0
                    .members()
                    .map(|(name, value)| {
                        (
                            Key::Text(name.into_owned().into_bytes().into()),
                            Noted(value),
                        )
                    })
                    .collect(),
            ),
            Shape::Other => Shape::Other,
        }
    }
}

fn key_of(key: Node<'_>) -> Key<'_, Noted<'_>> {
    if let Some(bytes) = ill_formed(key) {
        return Key::Text(bytes.into());
    }
    match key.kind() {
        Kind::String => Key::Text(
            key.as_str()
                .unwrap_or_default()
                .into_owned()
                .into_bytes()
                .into(),
        ),
        _ => Key::Other(Noted(key)),
    }
}

fn ill_formed(node: Node<'_>) -> Option<Vec<u8>> {
    let hexadecimal = node.get("$utf8_hex").and_then(Node::as_str)?;
    let byte = |at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).expect("hexadecimal");
    Some((0..hexadecimal.len()).step_by(2).map(byte).collect())
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../test/fixtures/connectome"
    ))
}
