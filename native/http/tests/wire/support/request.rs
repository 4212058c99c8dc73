//! Requests in raw bytes.

use serde_json::{Value, json};

/// A body that calls `tool` with `text`.
pub fn call(tool: &str, text: &str) -> String {
    mcp_testing::call(1, tool, &json!({"text": text})).to_string()
}

/// The head of a request that calls `tool`, without its end, its `Host` and what says how long the body is.
pub fn head(tool: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
    )
}

/// A whole request that calls `tool` with `text`.
pub fn post(tool: &str, text: &str) -> String {
    let (head, body) = (head(tool), call(tool, text));
    format!(
        "{head}host: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The same, its body in chunks of `size` bytes.
pub fn chunked(tool: &str, text: &str, size: usize) -> String {
    let (head, body) = (head(tool), call(tool, text));
    let chunks = body.as_bytes().chunks(size).map(|chunk| {
        let chunk = std::str::from_utf8(chunk).unwrap();
        format!("{:x}\r\n{chunk}\r\n", chunk.len())
    });
    let chunks: Vec<String> = chunks.collect();
    format!(
        "{head}host: localhost\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunks.concat()
    )
}

/// A whole request that listens.
pub fn listen(notifications: &Value) -> String {
    let mut message = mcp_testing::call(1, "", &json!({}));
    message["method"] = json!("subscriptions/listen");
    message["params"]["notifications"] = notifications.clone();
    let (head, body) = (head(""), message.to_string());
    let head = head.replace("tools/call\r\nmcp-name: ", "subscriptions/listen");
    format!(
        "{head}host: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
