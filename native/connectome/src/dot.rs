//! Graphs in the language of Graphviz; not canonical, never hashed.

use std::fmt::Write;

use crate::{Form, LabelValue};

impl Form {
    /// The graph as DOT: every name and value in quotation marks, labels of nodes as `label_` and their key, no weights.
    pub fn dot(&self) -> String {
        let mut text = String::from("digraph connectome {\n");
        for node in &self.nodes {
            let mut line = format!("  {} [", quoted(&node.id));
            let _ = write!(line, "\"kind\"=\"{}\", ", node.kind.name());
            let _ = write!(line, "\"level\"=\"{}\"", node.level.name());
            for label in &node.labels {
                let key = quoted(&format!("label_{}", label.key));
                let _ = write!(line, ", {key}={}", quoted(label.value.text()));
            }
            text.push_str(&line);
            text.push_str("];\n");
        }
        for edge in &self.edges {
            let [from, to] = [edge.from, edge.to].map(|node| quoted(self.id(node)));
            let [kind, provenance] = [edge.kind.name(), edge.provenance.name()];
            let sign = edge.sign.name();
            let _ = writeln!(
                text,
                "  {from} -> {to} [\"kind\"=\"{kind}\", \"provenance\"=\"{provenance}\", \"sign\"=\"{sign}\"];"
            );
        }
        text.push_str("}\n");
        text
    }
}

impl LabelValue {
    /// The string itself, or the JSON of anything else.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Json(text) => text,
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
