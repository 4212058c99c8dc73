//! `tools/call`: its parameters and its results (MCP server/tools).

use std::sync::Arc;

use mcp_json::{Node, NodeId, write};
use mcp_schema::Faults;

use crate::{
    catalog::{Catalog, Tool},
    encode::Members,
    error::Error,
    excerpt::plain_excerpt,
    methods::{
        blocks::for_revision,
        params::{Params, invalid},
    },
    outcome::ToolResult,
    revision::{Era, Revision},
};

/// What a client is told of any host fault: the reason is in the host's log (TOOL-16).
const FAILED: &str = "The tool failed.";

/// The tool and the arguments that `params` name.
pub(crate) fn read(
    params: Params<'_>,
    catalog: &Catalog,
) -> Result<(Arc<Tool>, Option<NodeId>), Error> {
    let name = params.string("name")?;
    let arguments = params.object("arguments")?;
    let tool = catalog
        .tool(&name)
        .ok_or_else(|| invalid(format!("Unknown tool: {}", plain_excerpt(&name))))?;
    Ok((Arc::clone(tool), arguments.map(Node::id)))
}

/// A result that says in words what went wrong, for a model to act on.
pub(crate) fn error_result(text: &str) -> ToolResult {
    let mut content = b"[{\"type\":\"text\",\"text\":".to_vec();
    write::string(&mut content, text);
    content.extend_from_slice(b"}]");
    ToolResult {
        content,
        is_error: true,
        ..ToolResult::default()
    }
}

/// The result of a host fault.
pub(crate) fn failed() -> ToolResult {
    error_result(FAILED)
}

/// What is wrong with a result by the output schema of its tool, for the host's log; a failure has no schema.
pub(crate) fn output_fault(tool: &Tool, result: &ToolResult) -> Option<String> {
    let schema = tool.output.as_ref().filter(|_| !result.is_error)?;
    if result.structured.is_none() {
        return Some(NO_STRUCTURED.into());
    }
    result.check(schema).err().map(|faults| broken(&faults))
}

/// The faults of structured content, by their places.
pub(crate) fn broken(faults: &Faults) -> String {
    let places: Vec<String> = faults
        .faults
        .iter()
        .map(|fault| format!("{}: expected {}", fault.pointer, fault.expected))
        .collect();
    format!(
        "the result breaks the tool's output_schema: {}",
        places.join("; ")
    )
}

pub(crate) const NO_STRUCTURED: &str =
    "the tool has an output_schema and returned no structured content";

/// Writes the members of a result. Legacy revisions know structured content as objects only.
pub(crate) fn write(result: &mut Members<'_>, tool_result: &ToolResult, revision: Revision) {
    result.raw("content", for_revision(&tool_result.content, revision));
    let structured = tool_result
        .structured
        .as_deref()
        .filter(|json| revision.era() == Era::Modern || json.first() == Some(&b'{'));
    if let Some(json) = structured {
        result.raw("structuredContent", json);
    }
    if tool_result.is_error {
        result.raw("isError", "true");
    }
}
