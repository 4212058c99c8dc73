//! Who is calling, as the host decided it.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use mcp_auth::Scopes;

/// The caller's identity as opaque bytes that are compared for equality only.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Principal(Arc<[u8]>);

impl Principal {
    /// Wraps the host's stable encoding of an identity.
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The identity's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Shows nothing: an identity is personal data.
impl fmt::Debug for Principal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Principal(..)")
    }
}

/// What `authorize` said of the caller.
#[derive(Clone)]
pub struct Identity {
    /// For ownership checks and accounting.
    pub principal: Principal,
    /// What the caller was granted; none where scopes decide nothing.
    pub scopes: Option<Arc<Scopes>>,
    /// The host's own term with principal, scopes, claims, sender and tenant, handed back to handlers unread.
    pub term: Bytes,
}

/// Shows nothing: see [`Principal`].
impl fmt::Debug for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Identity(..)")
    }
}
