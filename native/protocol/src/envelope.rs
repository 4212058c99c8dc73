//! The JSON-RPC 2.0 shape of one message.

use mcp_json::{Kind, Node, NodeId};
use smol_str::SmolStr;

use crate::{
    error::{Code, Error},
    request_id::{InvalidId, MAX_ID_BYTES, RequestId},
    word,
};

/// A message taken apart; what it means is decided elsewhere.
pub(crate) enum Envelope {
    /// It has an id and wants an answer.
    Request(Incoming),
    /// It has no id and gets no answer.
    Notification {
        method: SmolStr,
        params: Option<NodeId>,
    },
    /// A result or an error of the peer's, with the id of what it answers.
    Response { id: Option<NodeId> },
}

/// A request taken apart.
pub(crate) struct Incoming {
    pub(crate) id: RequestId,
    /// Where the id lies in the message.
    pub(crate) id_node: NodeId,
    pub(crate) method: SmolStr,
    pub(crate) params: Option<NodeId>,
}

/// A refusal, with the id to echo when the message had a readable one.
pub(crate) type Refused = (Option<RequestId>, Error);

impl Envelope {
    /// Reads a message.
    pub(crate) fn parse(root: Node<'_>) -> Result<Self, Refused> {
        if root.kind() != Kind::Object {
            let message = match root.kind() {
                Kind::Array => "Batches are not accepted: send one JSON-RPC object per message",
                _ => "A message is one JSON-RPC object",
            };
            return Err((None, invalid(word::SHAPE, message)));
        }
        let members = Members::of(root);
        let id_node = members.id;
        let is_response = members.are_of_a_response();
        let id = match id_node.map(RequestId::parse).transpose() {
            // What a peer says that could not read an id (JSON-RPC 2.0 §5); no response is ever answered.
            Err(_) if is_response => None,
            id => id.map_err(|reason| (None, invalid_id(reason)))?,
        };
        let refuse = |message: &'static str| Err((id.clone(), invalid(word::SHAPE, message)));
        if members.jsonrpc.and_then(Node::as_str).as_deref() != Some("2.0") {
            return refuse("The member \"jsonrpc\" must be \"2.0\"");
        }
        if is_response {
            let id = id.and(id_node).map(Node::id);
            return Ok(Self::Response { id });
        }
        let Some(method) = members.method else {
            return refuse("The member \"method\" is missing");
        };
        let Some(method) = method.as_str() else {
            return refuse("The member \"method\" must be a string");
        };
        let method = SmolStr::from(method);
        let params = members.params;
        if params.is_some_and(|params| params.kind() != Kind::Object) {
            let error = Error::new(
                Code::InvalidParams,
                word::PARAMS,
                "The member \"params\" must be an object",
            );
            return Err((id, error.with_status(400)));
        }
        let params = params.map(Node::id);
        Ok(match (id, id_node) {
            (Some(id), Some(node)) => Self::Request(Incoming {
                id,
                id_node: node.id(),
                method,
                params,
            }),
            _ => Self::Notification { method, params },
        })
    }
}

impl Envelope {
    /// Where the parameters lie in the message.
    pub(crate) fn params(&self) -> Option<NodeId> {
        match self {
            Self::Request(Incoming { params, .. }) | Self::Notification { params, .. } => *params,
            Self::Response { .. } => None,
        }
    }
}

/// What JSON-RPC reads of a message, found in one pass.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<Node<'a>>,
    id: Option<Node<'a>>,
    method: Option<Node<'a>>,
    params: Option<Node<'a>>,
    answers: bool,
}

impl<'a> Members<'a> {
    fn of(root: Node<'a>) -> Self {
        let mut members = Self::default();
        for (key, value) in root.members() {
            match &*key {
                "jsonrpc" => members.jsonrpc = Some(value),
                "id" => members.id = Some(value),
                "method" => members.method = Some(value),
                "params" => members.params = Some(value),
                "result" | "error" => members.answers = true,
                _ => {}
            }
        }
        members
    }

    fn are_of_a_response(&self) -> bool {
        self.method.is_none() && self.answers
    }
}

fn invalid(word: &'static str, message: &'static str) -> Error {
    Error::new(Code::InvalidRequest, word, message)
}

fn invalid_id(reason: InvalidId) -> Error {
    match reason {
        InvalidId::Type => invalid(word::ID, "The member \"id\" must be a string or an integer"),
        InvalidId::TooLong => Error::new(
            Code::InvalidRequest,
            word::ID,
            format!("The member \"id\" is longer than {MAX_ID_BYTES} bytes"),
        ),
    }
}
