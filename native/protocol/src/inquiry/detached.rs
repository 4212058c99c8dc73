//! What is asked once a call has become a task: its message is gone, and answers come one by one.

use std::sync::Arc;

use mcp_json::{Document, Limits, Node};

use super::{Asked, InputAnswer, Inquiry, kind::declared_capabilities};
use crate::{context::Client, meta::RequestMeta};

impl Inquiry {
    /// The size of the request that the call serves.
    pub fn message_bytes(&self) -> usize {
        self.message.bytes().len()
    }

    /// Takes a response to the question under `key`, if it fits and is awaited.
    pub(crate) fn answer(&mut self, key: &str, response: Node<'_>) {
        let awaited = |asked: &&mut Asked| *asked.key == *key && asked.answer.is_none();
        if let Some(asked) = self.asked.iter_mut().find(awaited)
            && asked.request.accepts(response)
        {
            asked.answer = Some(InputAnswer::Result(response.raw().into()));
        }
    }

    /// The same for a call whose message is let go of, and whose questions from now on are new ones.
    pub(crate) fn detached(self) -> Self {
        let capabilities = declared_capabilities(&self.capabilities(), self.revision);
        let client = Client::Session {
            info: "{}".into(),
            capabilities: capabilities.to_string().into(),
            log_level: None,
        };
        let nothing = Document::parse(b"{}".as_slice().into(), &Limits::default());
        let nothing = nothing.expect("an empty object is JSON");
        let (revision, route) = (self.revision, self.route);
        Self::new(
            revision,
            route,
            Arc::new(nothing),
            RequestMeta::default(),
            client,
            None,
        )
    }
}
