//! An HTTP request as data: correct by default, any piece of it replaceable.

use mcp_protocol::{Peer, RequestHead};
use serde_json::Value;

use super::message;

/// Verb, target, headers and body.
#[derive(Clone, Debug)]
pub struct Post {
    verb: String,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Post {
    /// `M` of the trials: `message` with all the headers that 2026-07-28 asks for.
    pub fn modern(message: &Value) -> Self {
        let method = message["method"].as_str().unwrap_or_default();
        let post = Self::plain(message)
            .set("MCP-Protocol-Version", "2026-07-28")
            .set("Mcp-Method", method);
        let member = match method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
            _ => return post,
        };
        match message["params"][member].as_str() {
            Some(name) => post.set("Mcp-Name", name),
            None => post,
        }
    }

    /// A modern request for a method without a name.
    pub fn request(method: &str) -> Self {
        Self::modern(&message::modern(method, serde_json::json!({})))
    }

    /// A legacy message within a session, or outside one.
    pub fn legacy(session: Option<&str>, message: &Value) -> Self {
        let post = Self::plain(message);
        match session {
            Some(id) => post
                .set("MCP-Protocol-Version", "2025-11-25")
                .set("Mcp-Session-Id", id),
            None => post,
        }
    }

    /// Any message with no header of the protocol.
    pub fn plain(message: &Value) -> Self {
        let post = Self {
            verb: "POST".into(),
            target: "/mcp".into(),
            headers: Vec::new(),
            body: message.to_string().into_bytes(),
        };
        post.set("Host", "localhost:4040")
            .set("Content-Type", "application/json")
            .set("Accept", "application/json, text/event-stream")
    }

    /// The same with `name` once, as `value`.
    pub fn set(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).also(name, value)
    }

    /// The same with one more line `name`.
    pub fn also(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.into(), value.as_ref().into()));
        self
    }

    /// The same without any line `name`.
    pub fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(header, _)| !header.eq_ignore_ascii_case(name));
        self
    }

    /// The same with another HTTP method.
    pub fn verb(mut self, verb: &str) -> Self {
        self.verb = verb.into();
        self
    }

    /// The same at another target.
    pub fn target(mut self, target: &str) -> Self {
        self.target = target.into();
        self
    }

    /// The same with other bytes as its body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The same with its message changed and its headers as they are.
    pub fn edit(mut self, change: impl FnOnce(&mut Value)) -> Self {
        let mut message = serde_json::from_slice(&self.body).expect("the body is still JSON");
        change(&mut message);
        self.body = message.to_string().into_bytes();
        self
    }

    /// The head as a listener hands it over.
    pub fn head(&self) -> RequestHead {
        let mut head = RequestHead::new(&self.verb, &self.target, Peer::Unix);
        for (name, value) in &self.headers {
            head.push(&name.to_ascii_lowercase(), value);
        }
        head
    }

    /// The body's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }
}
