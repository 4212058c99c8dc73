//! The bytes of a graph.

use mcp_canonical::{Algorithm, Sink, Writer};

use crate::{Form, Sign, Version};

/// A sign that the version asked for has no word for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoSuchSign(pub Sign);

impl Form {
    /// Writes the canonical bytes into `sink`, and gives it back.
    ///
    /// `version` may be another than the graph's own. Versions 1 and 2 are hashed with SHA-256 whatever `algorithm`
    /// says, which their bytes do not name.
    ///
    /// # Errors
    ///
    /// The first sign in the order of edges that the version has no word for; nothing was written then.
    pub fn write<S: Sink>(
        &self,
        version: Version,
        algorithm: Algorithm,
        sink: S,
    ) -> Result<S, NoSuchSign> {
        let signs = self.signs(version)?;
        let mut writer = Writer::new(sink);
        writer.raw("{\"schema_version\":");
        writer.integer(version.number());
        if version.names_algorithm() {
            writer.raw(",\"algorithm\":\"");
            writer.raw(algorithm.name());
            writer.raw("\"");
        }
        writer.raw(",\"nodes\":[");
        self.write_nodes(&mut writer);
        writer.raw("],\"edges\":[");
        self.write_edges(&signs, &mut writer);
        writer.raw("]}");
        Ok(writer.finish())
    }

    /// The canonical bytes in the graph's own version.
    pub fn bytes(&self, algorithm: Algorithm) -> Vec<u8> {
        self.write(self.version, algorithm, Vec::new())
            .expect("a graph has only signs of its own version")
    }

    /// The digest of the canonical bytes, which are kept nowhere.
    pub fn digest(&self, version: Version, algorithm: Algorithm) -> Result<String, NoSuchSign> {
        let algorithm = version.algorithm(algorithm);
        let hasher = self.write(version, algorithm, algorithm.hasher())?;
        Ok(hasher.hexadecimal())
    }

    /// The sign of each edge in the words of `version`.
    fn signs(&self, version: Version) -> Result<Vec<Sign>, NoSuchSign> {
        let adopted = |edge: &crate::Edge| version.adopt(edge.sign).ok_or(NoSuchSign(edge.sign));
        self.edges.iter().map(adopted).collect()
    }

    fn write_nodes<S: Sink>(&self, writer: &mut Writer<S>) {
        for (at, node) in self.nodes.iter().enumerate() {
            writer.raw(if at == 0 { "{\"id\":" } else { ",{\"id\":" });
            writer.string(&node.id);
            writer.raw(",\"kind\":\"");
            writer.raw(node.kind.name());
            writer.raw("\",\"labels\":");
            node.write_labels(writer);
            writer.raw(",\"level\":\"");
            writer.raw(node.level.name());
            writer.raw("\"}");
        }
    }

    fn write_edges<S: Sink>(&self, signs: &[Sign], writer: &mut Writer<S>) {
        let ids = self.quoted_ids();
        for (at, (edge, sign)) in self.edges.iter().zip(signs).enumerate() {
            writer.raw(if at == 0 { "{\"from\":" } else { ",{\"from\":" });
            writer.raw(&ids[edge.from as usize]);
            writer.raw(",\"kind\":\"");
            writer.raw(edge.kind.name());
            writer.raw("\",\"provenance\":\"");
            writer.raw(edge.provenance.name());
            writer.raw("\",\"sign\":\"");
            writer.raw(sign.name());
            writer.raw("\",\"to\":");
            writer.raw(&ids[edge.to as usize]);
            writer.raw("}");
        }
    }

    /// Each node's id as a JSON string: it is written once for each edge.
    pub(crate) fn quoted_ids(&self) -> Vec<Vec<u8>> {
        let quoted = |node: &crate::FormNode| {
            let mut text = Vec::with_capacity(node.id.len() + 2);
            mcp_json::write::string(&mut text, &node.id);
            text
        };
        self.nodes.iter().map(quoted).collect()
    }
}

impl crate::FormNode {
    pub(crate) fn write_labels<S: Sink>(&self, writer: &mut Writer<S>) {
        writer.raw("{");
        for (at, label) in self.labels.iter().enumerate() {
            if at > 0 {
                writer.raw(",");
            }
            writer.string(&label.key);
            writer.raw(":");
            label.value.write(writer);
        }
        writer.raw("}");
    }
}

impl Version {
    /// The digest of bytes of this version: the one they name, or SHA-256.
    pub fn algorithm(self, named: Algorithm) -> Algorithm {
        if self.names_algorithm() {
            named
        } else {
            Algorithm::Sha256
        }
    }
}
