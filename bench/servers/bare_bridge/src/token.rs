//! The right to answer one call.

use std::sync::{Mutex, PoisonError};

use hyper::body::Bytes;
use rustler::Resource;
use serde::Serialize;
use tokio::sync::oneshot;

/// Travels to the call's process and back; answers at most once.
pub(crate) struct Token {
    id: u64,
    sender: Mutex<Option<oneshot::Sender<Bytes>>>,
}

#[rustler::resource_impl]
impl Resource for Token {}

impl Token {
    /// A token for the request `id`, and the place where its answer arrives.
    pub(crate) fn new(id: u64) -> (Self, oneshot::Receiver<Bytes>) {
        let (sender, answer) = oneshot::channel();
        let sender = Mutex::new(Some(sender));
        (Self { id, sender }, answer)
    }

    /// Encodes the result and wakes the connection.
    pub(crate) fn answer(&self, text: &[u8]) {
        let taken = self
            .sender
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let (Some(sender), Ok(text)) = (taken, str::from_utf8(text)) {
            let response = Response::new(self.id, text);
            let bytes = serde_json::to_vec(&response).expect("strings and integers always encode");
            // A client that has gone needs no answer.
            let _ = sender.send(bytes.into());
        }
    }
}

#[derive(Serialize)]
struct Response<'a> {
    jsonrpc: &'static str,
    id: u64,
    result: CallResult<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    result_type: &'static str,
    content: [TextContent<'a>; 1],
}

#[derive(Serialize)]
struct TextContent<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl<'a> Response<'a> {
    fn new(id: u64, text: &'a str) -> Self {
        let r#type = "text";
        let content = [TextContent { r#type, text }];
        let result = CallResult {
            result_type: "complete",
            content,
        };
        Self {
            jsonrpc: "2.0",
            id,
            result,
        }
    }
}
