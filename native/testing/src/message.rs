//! Messages of clients, and what handlers say.

use mcp_protocol::{CallOutcome, Input, ToolResult};
use serde_json::{Value, json};

/// A modern call of a tool.
pub fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id.into(),
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/logLevel": "debug",
                "progressToken": "progress",
            },
        },
    })
}

/// A call of a tool within a legacy session.
pub fn legacy_call(id: impl Into<Value>, tool: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id.into(),
        "method": "tools/call",
        "params": {"name": tool, "arguments": {}, "_meta": {"progressToken": "progress"}},
    })
}

/// A cancellation.
pub fn cancel(id: impl Into<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": id.into()},
    })
}

/// The result of a tool that says `text`.
pub fn text(text: &str) -> Input {
    let content = json!([{"type": "text", "text": text}]);
    Input::Outcome(CallOutcome::Tool(ToolResult {
        content: content.to_string().into_bytes(),
        ..ToolResult::default()
    }))
}
