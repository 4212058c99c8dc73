//! What parts say differently of one thing. Things are compared by their ids without scope.

use std::collections::BTreeMap;

use mcp_canonical::{Sink, Writer};

use super::{Federation, bytes::array};
use crate::{EdgeKind, LabelValue, Provenance, Sign};

/// What one part says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim<T> {
    /// The position of the part.
    pub part: usize,
    /// What it says.
    pub value: T,
}

/// Signs, each with the provenance of the edge it stands on.
type SignClaims = Vec<Claim<(Provenance, Sign)>>;

/// An edge for which parts supply different signs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EdgeConflict<'a> {
    /// The node that talks.
    pub from: &'a str,
    /// The node that is talked to.
    pub to: &'a str,
    /// How.
    pub kind: EdgeKind,
    /// Every sign that is not neutral, with the provenance of the edge it stands on.
    pub claims: SignClaims,
}

/// A node that parts describe differently.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeConflict<'a> {
    /// The node.
    pub id: &'a str,
    /// What they differ in.
    pub field: NodeField<'a>,
    /// What each part that says something says, as JSON.
    pub claims: Vec<Claim<String>>,
}

/// What descriptions of a node can differ in.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum NodeField<'a> {
    /// Its kind.
    Kind,
    /// A label that both have.
    Label(&'a str),
    /// Its level.
    Level,
}

impl Federation {
    /// The edges whose signs differ, by from, to and kind.
    pub fn edge_conflicts(&self) -> Vec<EdgeConflict<'_>> {
        let mut said = BTreeMap::<(&str, &str, EdgeKind), SignClaims>::new();
        for (at, part) in self.parts.iter().enumerate() {
            let form = &part.form;
            let signed = form.edges.iter();
            for edge in signed.filter(|edge| edge.sign != form.version.neutral()) {
                let label = (form.id(edge.from), form.id(edge.to), edge.kind);
                said.entry(label).or_default().push(Claim {
                    part: at,
                    value: (edge.provenance, edge.sign),
                });
            }
        }
        let disagree = |claims: &SignClaims| {
            claims
                .iter()
                .any(|claim| claim.value.1 != claims[0].value.1)
        };
        let conflicts = said.into_iter().filter(|(_, claims)| disagree(claims));
        conflicts
            .map(|((from, to, kind), claims)| EdgeConflict {
                from,
                to,
                kind,
                claims,
            })
            .collect()
    }

    /// The nodes whose descriptions differ, by id and field.
    pub fn node_conflicts(&self) -> Vec<NodeConflict<'_>> {
        let mut said: BTreeMap<(&str, NodeField<'_>), Vec<Claim<String>>> = BTreeMap::new();
        for (at, part) in self.parts.iter().enumerate() {
            for node in &part.form.nodes {
                let mut say = |field, value| {
                    let claims = said.entry((&*node.id, field)).or_default();
                    claims.push(Claim { part: at, value });
                };
                say(NodeField::Kind, format!("\"{}\"", node.kind.name()));
                say(NodeField::Level, format!("\"{}\"", node.level.name()));
                for label in &node.labels {
                    say(NodeField::Label(&label.key), json(&label.value));
                }
            }
        }
        let disagree =
            |claims: &Vec<Claim<String>>| claims.iter().any(|claim| claim.value != claims[0].value);
        let conflicts = said.into_iter().filter(|(_, claims)| disagree(claims));
        conflicts
            .map(|((id, field), claims)| NodeConflict { id, field, claims })
            .collect()
    }

    pub(super) fn write_conflicts<S: Sink>(&self, writer: &mut Writer<S>) {
        writer.raw("{\"edges\":");
        array(writer, &self.edge_conflicts(), write_edge);
        writer.raw(",\"nodes\":");
        array(writer, &self.node_conflicts(), write_node);
        writer.raw("}");
    }
}

impl NodeField<'_> {
    /// The name in the bytes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Label(_) => "label",
            Self::Level => "level",
        }
    }
}

fn write_edge<S: Sink>(writer: &mut Writer<S>, conflict: &EdgeConflict<'_>) {
    writer.raw("{\"claims\":");
    array(writer, &conflict.claims, |writer, claim| {
        let (provenance, sign) = claim.value;
        writer.raw("{\"part\":");
        writer.integer(claim.part as i64);
        writer.raw(",\"provenance\":\"");
        writer.raw(provenance.name());
        writer.raw("\",\"sign\":\"");
        writer.raw(sign.name());
        writer.raw("\"}");
    });
    writer.raw(",\"from\":");
    writer.string(conflict.from);
    writer.raw(",\"kind\":\"");
    writer.raw(conflict.kind.name());
    writer.raw("\",\"to\":");
    writer.string(conflict.to);
    writer.raw("}");
}

fn write_node<S: Sink>(writer: &mut Writer<S>, conflict: &NodeConflict<'_>) {
    writer.raw("{\"claims\":");
    array(writer, &conflict.claims, |writer, claim| {
        writer.raw("{\"part\":");
        writer.integer(claim.part as i64);
        writer.raw(",\"value\":");
        writer.raw(&claim.value);
        writer.raw("}");
    });
    writer.raw(",\"field\":\"");
    writer.raw(conflict.field.name());
    writer.raw("\",\"id\":");
    writer.string(conflict.id);
    if let NodeField::Label(key) = conflict.field {
        writer.raw(",\"label\":");
        writer.string(key);
    }
    writer.raw("}");
}

fn json(value: &LabelValue) -> String {
    let mut writer = Writer::new(Vec::new());
    value.write(&mut writer);
    String::from_utf8(writer.finish()).expect("the writer writes UTF-8")
}
