//! What came of an exchange: its answer, and what was asked on the way.

use mcp_protocol::{Answer, Connection};
use serde_json::Value;

/// An answer that tests can look into.
#[derive(Debug)]
pub struct Reply {
    pub answer: Answer,
    /// Every question in words, in order; see [`super::describe`].
    pub asked: Vec<String>,
}

impl Reply {
    /// The JSON-RPC message of the answer; `null` when there is none.
    pub fn json(&self) -> Value {
        match self.answer.body.as_slice() {
            [] => Value::Null,
            body => serde_json::from_slice(body).expect("a body is one JSON value"),
        }
    }

    /// The `result` member.
    pub fn result(&self) -> Value {
        self.json()["result"].take()
    }

    /// `error.code`, if the answer is an error.
    pub fn code(&self) -> Option<i64> {
        self.json()["error"]["code"].as_i64()
    }

    /// `error.message`.
    pub fn message(&self) -> String {
        self.json()["error"]["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The text of the first content item.
    pub fn text(&self) -> String {
        self.result()["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// A header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self
            .answer
            .headers
            .iter()
            .filter(|(header, _)| *header == name);
        let value = named.next().map(|(_, value)| &**value);
        assert!(named.next().is_none(), "{name} is sent twice");
        value
    }

    /// Status, code and echoed id of an error; what a refusal is told by.
    pub fn refusal(&self) -> (u16, Option<i64>, Option<Value>) {
        (
            self.answer.status,
            self.code(),
            self.json().get("id").cloned(),
        )
    }

    /// Whether the connection is kept.
    pub fn keeps(&self) -> bool {
        self.answer.connection == Connection::Keep
    }

    /// Whether no message is sent at all.
    pub fn is_silent(&self) -> bool {
        self.answer.body.is_empty()
    }

    /// Whether a handler ran.
    pub fn called(&self) -> bool {
        self.asked
            .iter()
            .any(|question| question.starts_with("call "))
    }
}
