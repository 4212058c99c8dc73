//! Graphs as `GraphML`; not canonical, never hashed.

use std::fmt::Write;

use mcp_canonical::utf16_order;

use crate::{Form, FormNode};

/// A character that XML 1.0 has no form for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotXml {
    /// The node that has it in its id or its labels.
    pub id: String,
    /// The character.
    pub character: char,
}

impl Form {
    /// The graph as `GraphML`. A key is declared for each key of labels, in their canonical order.
    ///
    /// # Errors
    ///
    /// The first character that XML 1.0 section 2.2 excludes, in the order of nodes.
    pub fn graphml(&self) -> Result<String, NotXml> {
        self.nodes.iter().try_for_each(check)?;
        let keys = self.label_keys();
        let mut text = String::from(HEAD);
        for (at, key) in keys.iter().enumerate() {
            declare(&mut text, &format!("l{at}"), "node", &escaped(key));
        }
        for (id, name) in [
            ("ekind", "kind"),
            ("provenance", "provenance"),
            ("sign", "sign"),
        ] {
            declare(&mut text, id, "edge", name);
        }
        text.push_str("  <graph id=\"connectome\" edgedefault=\"directed\">\n");
        for node in &self.nodes {
            write_node(&mut text, node, &keys);
        }
        self.write_edges_xml(&mut text);
        text.push_str("  </graph>\n</graphml>\n");
        Ok(text)
    }

    fn label_keys(&self) -> Vec<&str> {
        let labels = self.nodes.iter().flat_map(|node| &node.labels);
        let mut keys: Vec<&str> = labels.map(|label| &*label.key).collect();
        keys.sort_by(|left, right| utf16_order(left, right));
        keys.dedup();
        keys
    }

    fn write_edges_xml(&self, text: &mut String) {
        for edge in &self.edges {
            let [from, to] = [edge.from, edge.to].map(|node| escaped(self.id(node)));
            let _ = writeln!(text, "    <edge source=\"{from}\" target=\"{to}\">");
            data(text, "ekind", edge.kind.name());
            data(text, "provenance", edge.provenance.name());
            data(text, "sign", edge.sign.name());
            text.push_str("    </edge>\n");
        }
    }
}

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="kind" for="node" attr.name="kind" attr.type="string"/>
  <key id="level" for="node" attr.name="level" attr.type="string"/>
"#;

fn declare(text: &mut String, id: &str, owner: &str, name: &str) {
    let _ = writeln!(
        text,
        "  <key id=\"{id}\" for=\"{owner}\" attr.name=\"{name}\" attr.type=\"string\"/>"
    );
}

fn write_node(text: &mut String, node: &FormNode, keys: &[&str]) {
    let _ = writeln!(text, "    <node id=\"{}\">", escaped(&node.id));
    data(text, "kind", node.kind.name());
    data(text, "level", node.level.name());
    for label in &node.labels {
        let at = keys.binary_search_by(|key| utf16_order(key, &label.key));
        let at = at.expect("every key of a label was collected");
        data(text, &format!("l{at}"), &escaped(label.value.text()));
    }
    text.push_str("    </node>\n");
}

fn data(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "      <data key=\"{key}\">{value}</data>");
}

fn check(node: &FormNode) -> Result<(), NotXml> {
    let labels = node.labels.iter();
    let labels = labels.flat_map(|label| [&*label.key, label.value.text()]);
    let mut texts = std::iter::once(&*node.id).chain(labels);
    match texts.find_map(|text| text.chars().find(|character| !is_xml(*character))) {
        Some(character) => Err(NotXml {
            id: node.id.to_string(),
            character,
        }),
        None => Ok(()),
    }
}

fn is_xml(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}
