//! The bytes of a federation: schema version 4.

use mcp_canonical::{Algorithm, Sink, Writer};

use super::{Federation, Part};
use crate::{Edge, FormNode};

/// The version of these bytes.
pub(crate) const SCHEMA_VERSION: i64 = 4;

impl Federation {
    /// Writes the canonical bytes into `sink`, and gives it back.
    pub fn write<S: Sink>(&self, algorithm: Algorithm, sink: S) -> S {
        let mut writer = Writer::new(sink);
        writer.raw("{\"schema_version\":");
        writer.integer(SCHEMA_VERSION);
        writer.raw(",\"algorithm\":\"");
        writer.raw(algorithm.name());
        writer.raw("\",\"parts\":");
        array(&mut writer, &self.parts, write_part);
        writer.raw(",\"nodes\":");
        array(&mut writer, &self.scoped_nodes(), write_node);
        writer.raw(",\"edges\":");
        array(&mut writer, &self.scoped_edges(), write_edge);
        writer.raw(",\"conflicts\":");
        self.write_conflicts(&mut writer);
        writer.raw("}");
        writer.finish()
    }

    /// The digest of the canonical bytes.
    pub fn digest(&self, algorithm: Algorithm) -> String {
        self.write(algorithm, algorithm.hasher()).hexadecimal()
    }

    /// Every node of every part with its scoped id, by that id and then by part.
    fn scoped_nodes(&self) -> Vec<(String, usize, &FormNode)> {
        let mut nodes = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let scope = part.scope();
            let scoped = part.form.nodes.iter();
            nodes.extend(scoped.map(|node| (format!("{scope}{}", node.id), at, node)));
        }
        nodes.sort_by(|left, right| (&left.0, left.1).cmp(&(&right.0, right.1)));
        nodes
    }

    fn scoped_edges(&self) -> Vec<ScopedEdge<'_>> {
        let mut edges = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let scope = part.scope();
            let id = |node: u32| format!("{scope}{}", part.form.id(node));
            edges.extend(part.form.edges.iter().map(|edge| ScopedEdge {
                from: id(edge.from),
                to: id(edge.to),
                part: at,
                edge,
            }));
        }
        edges.sort_by(|left, right| left.key().cmp(&right.key()));
        edges
    }
}

/// An edge with the scoped ids of its ends.
struct ScopedEdge<'a> {
    from: String,
    to: String,
    part: usize,
    edge: &'a Edge,
}

impl ScopedEdge<'_> {
    fn key(&self) -> impl Ord {
        let edge = self.edge;
        (
            &*self.from,
            &*self.to,
            edge.kind,
            edge.provenance,
            self.part,
        )
    }
}

/// Writes an array whose items `item` writes.
pub(super) fn array<T, S: Sink>(
    writer: &mut Writer<S>,
    items: &[T],
    item: impl Fn(&mut Writer<S>, &T),
) {
    writer.raw("[");
    for (at, one) in items.iter().enumerate() {
        if at > 0 {
            writer.raw(",");
        }
        item(writer, one);
    }
    writer.raw("]");
}

fn write_part<S: Sink>(writer: &mut Writer<S>, part: &Part) {
    writer.raw("{\"algorithm\":\"");
    writer.raw(part.algorithm.name());
    writer.raw("\",\"digest\":\"");
    writer.raw(&part.digest);
    writer.raw("\",\"member\":");
    writer.string(&part.member);
    writer.raw(",\"schema_version\":");
    writer.integer(part.form.version.number());
    writer.raw("}");
}

fn write_node<S: Sink>(writer: &mut Writer<S>, (id, part, node): &(String, usize, &FormNode)) {
    writer.raw("{\"id\":");
    writer.string(id);
    writer.raw(",\"kind\":\"");
    writer.raw(node.kind.name());
    writer.raw("\",\"labels\":");
    node.write_labels(writer);
    writer.raw(",\"level\":\"");
    writer.raw(node.level.name());
    writer.raw("\",\"part\":");
    writer.integer(*part as i64);
    writer.raw("}");
}

fn write_edge<S: Sink>(writer: &mut Writer<S>, scoped: &ScopedEdge<'_>) {
    let edge = scoped.edge;
    writer.raw("{\"from\":");
    writer.string(&scoped.from);
    writer.raw(",\"kind\":\"");
    writer.raw(edge.kind.name());
    writer.raw("\",\"part\":");
    writer.integer(scoped.part as i64);
    writer.raw(",\"provenance\":\"");
    writer.raw(edge.provenance.name());
    writer.raw("\",\"sign\":\"");
    writer.raw(edge.sign.name());
    writer.raw("\",\"to\":");
    writer.string(&scoped.to);
    writer.raw("}");
}
