//! Messages of a session that are meant for calls of other nodes: a client's next POST may reach any node that shares
//! its session (MCP 2025-11-25 basic/transports, "Session Management").

use std::{fmt, sync::Arc};

use bytes::Bytes;
use mcp_json::{Document, Limits};

use crate::{
    envelope::Envelope,
    exchange::cancelled_request,
    inquiry::ClientResponse,
    method::Method,
    request_id::{IdKey, RequestId},
};

/// A client's message whose call was not found on this node.
#[derive(Clone)]
pub struct Relay {
    /// The client's session, which was found to be its own.
    pub session: Arc<str>,
    /// The message as it came.
    pub message: Arc<Document>,
}

/// What a relayed message wants of a call.
pub enum Relayed {
    /// That it stops.
    Cancel(IdKey),
    /// That it takes an answer to what it asked.
    Response(ClientResponse),
}

impl Relayed {
    /// Reads a message that another node has accepted under `limits`; `None` for one that wants neither.
    pub fn parse(message: Bytes, limits: &Limits) -> Option<Self> {
        let document = Arc::new(Document::parse(message, limits).ok()?);
        match Envelope::parse(document.root()).ok()? {
            Envelope::Notification { method, params }
                if Method::parse(&method) == Some(Method::Cancelled) =>
            {
                let params = params.map(|node| document.node(node));
                cancelled_request(params).map(Self::Cancel)
            }
            Envelope::Response { id: Some(id) } => {
                let id = RequestId::key(document.node(id));
                Some(Self::Response(ClientResponse::new(id, document)))
            }
            _ => None,
        }
    }
}

/// Shows the size: the session's id is a secret, and the message is the client's.
impl fmt::Debug for Relay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Relay({} bytes)", self.message.bytes().len())
    }
}

/// Shows what is wanted.
impl fmt::Debug for Relayed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Cancel(_) => "Cancel(..)",
            Self::Response(_) => "Response(..)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(message: &'static str) -> Option<Relayed> {
        let limits = Limits {
            max_depth: 8,
            max_number_digits: 32,
        };
        Relayed::parse(Bytes::from_static(message.as_bytes()), &limits)
    }

    #[test]
    fn reads_what_concerns_a_call() {
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#;
        let Some(Relayed::Cancel(IdKey::String(id))) = parse(cancel) else {
            panic!("it cancels");
        };
        assert_eq!(&*id, "a");
        let response = parse(r#"{"jsonrpc":"2.0","id":"7-0-x","result":{}}"#);
        let Some(Relayed::Response(response)) = response else {
            panic!("it answers");
        };
        assert_eq!(response.id(), Some("7-0-x"));
    }

    #[test]
    fn leaves_the_rest() {
        for other in [
            "",
            "[]",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
        ] {
            assert!(parse(other).is_none(), "{other}");
        }
    }
}
