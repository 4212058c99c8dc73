//! Legacy sessions as the core sees them (MCP 2025-11-25 basic/transports, "Session Management").

use std::{fmt, sync::Arc};

use crate::{change::Uris, log_level::LogLevel, principal::Principal, revision::Revision};

/// What `initialize` fixed for later requests.
#[derive(Clone)]
pub struct Session {
    /// The negotiated version.
    pub revision: Revision,
    /// `clientInfo` as JSON text.
    pub client_info: Arc<str>,
    /// Client `capabilities` as JSON text.
    pub client_capabilities: Arc<str>,
    /// Who opened it; only the same principal may use it.
    pub principal: Option<Principal>,
    /// What `logging/setLevel` chose.
    pub log_level: Option<LogLevel>,
    /// What `resources/subscribe` asked for.
    pub subscriptions: Uris,
}

/// What is asked of a session store.
#[derive(Clone)]
pub enum SessionAsk {
    /// Keep this session under a fresh, unguessable id.
    Create(Session),
    /// Find a session and count it as used.
    Fetch(Arc<str>),
    /// Remember the log level that the client of a session chose.
    SetLogLevel(Arc<str>, LogLevel),
    /// Remember a resource that the client of a session subscribed to; full beyond [`MAX_URIS`](crate::MAX_URIS).
    Subscribe(Arc<str>, Arc<str>),
    /// Forget one again.
    Unsubscribe(Arc<str>, Arc<str>),
    /// End a session.
    Delete(Arc<str>),
}

/// What a session store says.
#[derive(Clone)]
pub enum SessionAnswer {
    /// The id of the session created: 1 to 256 bytes of visible ASCII.
    Created(Arc<str>),
    /// The session found.
    Found(Session),
    /// What was to be remembered is.
    Updated,
    /// Deleted, or there was none to delete.
    Deleted,
    /// No such session, or it ended.
    Unknown,
    /// As many sessions as the host allows exist already, or the session has as many subscriptions as it may.
    Full,
}

/// Shows the revision: what a client says of itself is its own.
impl fmt::Debug for Session {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Session({})", self.revision)
    }
}

/// Shows what is asked: an id is a secret.
impl fmt::Debug for SessionAsk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(session) => write!(out, "Create({session:?})"),
            Self::Fetch(_) => out.write_str("Fetch(..)"),
            Self::SetLogLevel(_, level) => write!(out, "SetLogLevel(.., {level:?})"),
            Self::Subscribe(..) => out.write_str("Subscribe(..)"),
            Self::Unsubscribe(..) => out.write_str("Unsubscribe(..)"),
            Self::Delete(_) => out.write_str("Delete(..)"),
        }
    }
}

/// Shows what came: an id is a secret.
impl fmt::Debug for SessionAnswer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created(_) => out.write_str("Created(..)"),
            Self::Found(session) => write!(out, "Found({session:?})"),
            Self::Updated => out.write_str("Updated"),
            Self::Deleted => out.write_str("Deleted"),
            Self::Unknown => out.write_str("Unknown"),
            Self::Full => out.write_str("Full"),
        }
    }
}
