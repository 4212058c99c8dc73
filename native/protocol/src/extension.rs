//! Extensions of the protocol: what a side names in its capabilities to say that it has one (MCP 2026-07-28
//! basic/versioning, "Extensions").

use mcp_json::{Kind, Node};
use serde_json::json;

use crate::{
    context::Json,
    error::{Code, Error},
    word,
};

/// `io.modelcontextprotocol/tasks`
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// `io.modelcontextprotocol/ui`
pub(crate) const APPS: &str = "io.modelcontextprotocol/ui";

/// Whether a modern client declares an extension with its request (EXT-1).
pub(crate) fn is_declared(extension: &str, capabilities: Json<'_>) -> bool {
    let Json::Node(capabilities) = capabilities else {
        return false;
    };
    capabilities
        .get("extensions")
        .and_then(|extensions| extensions.get(extension))
        .map(Node::kind)
        == Some(Kind::Object)
}

/// The refusal of a client that has to declare an extension and does not (EXT-3, TASK-14).
pub(crate) fn missing(extension: &str, what: &str) -> Error {
    let required = json!({"extensions": {extension: {}}});
    let message = format!("{what} needs a client that declares the extension {extension}");
    Error::new(Code::MissingCapability, word::CAPABILITY, message)
        .with_data(json!({"requiredCapabilities": required}).to_string())
}
