//! The weights, beside the bytes and never hashed.

use mcp_canonical::Writer;

use crate::Form;

impl Form {
    /// One object for each edge that has a weight, in the order of edges.
    pub fn sidecar(&self) -> Vec<u8> {
        let ids = self.quoted_ids();
        let mut writer = Writer::new(Vec::new());
        writer.raw("{\"schema_version\":");
        writer.integer(self.version.number());
        writer.raw(",\"weights\":[");
        let mut separator = "";
        for edge in &self.edges {
            let Some(weight) = &edge.weight else {
                continue;
            };
            writer.raw(separator);
            separator = ",";
            writer.raw("{\"from\":");
            writer.raw(&ids[edge.from as usize]);
            writer.raw(",\"kind\":\"");
            writer.raw(edge.kind.name());
            writer.raw("\",\"provenance\":\"");
            writer.raw(edge.provenance.name());
            writer.raw("\",\"to\":");
            writer.raw(&ids[edge.to as usize]);
            writer.raw(",\"weight\":");
            writer.raw(weight.text());
            writer.raw("}");
        }
        writer.raw("]}");
        writer.finish()
    }
}
