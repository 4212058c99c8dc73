//! Legacy sessions as the core sees them (MCP 2025-11-25 basic/transports, "Session Management").

use std::sync::Arc;

use crate::{principal::Principal, revision::Revision};

/// What `initialize` fixed for later requests.
#[derive(Clone, Debug)]
pub struct Session {
    /// The negotiated version.
    pub revision: Revision,
    /// `clientInfo` as JSON text.
    pub client_info: Arc<str>,
    /// Client `capabilities` as JSON text.
    pub client_capabilities: Arc<str>,
    /// Who opened it; only the same principal may use it.
    pub principal: Option<Principal>,
}

/// What is asked of a session store.
#[derive(Clone, Debug)]
pub enum SessionAsk {
    /// Keep this session under a fresh, unguessable id.
    Create(Session),
    /// Find a session and count it as used.
    Fetch(Arc<str>),
    /// End a session.
    Delete(Arc<str>),
}

/// What a session store says.
#[derive(Clone, Debug)]
pub enum SessionAnswer {
    /// The id of the session created: 1 to 256 bytes of visible ASCII.
    Created(Arc<str>),
    /// The session found.
    Found(Session),
    /// Deleted, or there was none to delete.
    Deleted,
    /// No such session, or it ended.
    Unknown,
    /// As many sessions as the host allows exist already.
    Full,
}
