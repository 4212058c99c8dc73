//! One request on its way to a handler, and what comes back.

use std::sync::Arc;

use mcp_json::{Document, Limits, NodeId};
use mcp_schema::{Faults, Schema};

use crate::{catalog::Tool, context::RequestContext, question::Scope, request_id::IdKey};

/// A checked request for a handler.
#[derive(Debug)]
pub struct Call {
    /// The tool, of the snapshot that the request started with.
    pub tool: Arc<Tool>,
    /// Where `params.arguments` lies in the context's message; `None` stands for `{}`.
    pub arguments: Option<NodeId>,
    /// What the handler may know.
    pub context: RequestContext,
    /// How a cancellation finds the call; `None` where the connection alone can cancel.
    pub cancel_key: Option<(Scope, IdKey)>,
}

/// How a handler ended.
#[derive(Debug)]
pub enum CallOutcome {
    /// A result, or a failure that the host put into words for the client.
    Tool(ToolResult),
    /// A host fault: the client gets a fixed text, the host's log has the reason already.
    Failed,
}

/// The one internal form of a tool's result, before any revision's encoder.
#[derive(Debug, Default)]
pub struct ToolResult {
    /// `content`: a JSON array of content blocks.
    pub content: Vec<u8>,
    /// `structuredContent`: any JSON value.
    pub structured: Option<Vec<u8>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// `_meta`: a JSON object.
    pub meta: Option<Vec<u8>>,
}

impl ToolResult {
    /// Checks the structured content.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), Faults> {
        let text = self.structured.clone().unwrap_or_default();
        match Document::parse(text.into(), &OWN_TEXT) {
            Ok(document) => schema.check_node(document.root()),
            Err(_) => Err(Faults {
                faults: Vec::new(),
                more: true,
            }),
        }
    }
}

/// Results nest as deep as the host's terms may, and their numbers are as long as the host likes.
const OWN_TEXT: Limits = Limits {
    max_depth: 256,
    max_number_digits: usize::MAX,
};
