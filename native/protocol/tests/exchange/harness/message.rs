//! JSON-RPC messages that are right in every respect; tests change what they are about.

use serde_json::{Value, json};

/// Where a modern request states what it needs to (MCP 2026-07-28 basic, "`_meta`").
pub const META: [&str; 2] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
];

/// A `_meta` that declares 2026-07-28 and no capability.
pub fn modern_meta() -> Value {
    json!({META[0]: "2026-07-28", META[1]: {}})
}

/// A modern request with id 1.
pub fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = modern_meta();
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A modern call of a tool, with id 1.
pub fn call(tool: &str, arguments: Value) -> Value {
    modern("tools/call", json!({"name": tool, "arguments": arguments}))
}

/// The same request with more in its `_meta`.
pub fn asking_for(mut request: Value, meta: &Value) -> Value {
    for (key, value) in meta.as_object().expect("_meta is an object") {
        request["params"]["_meta"][key] = value.clone();
    }
    request
}

/// A legacy request with id 1.
pub fn legacy(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A notification that declares no version.
pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}
