//! What a verified access token says.

use std::fmt;

use crate::scope::Scopes;

/// The claims that count, read and checked; never the token itself.
#[derive(Clone)]
pub struct Facts {
    /// Which of the configured issuers.
    pub issuer_index: usize,
    /// `iss`
    pub issuer: String,
    /// `sub`
    pub subject: String,
    /// The client's id, from the first claim of `client_id_claims` that is there.
    pub client_id: Option<String>,
    /// `jti`
    pub jti: Option<String>,
    /// What is granted, without repeats, in the order of the claims.
    pub scopes: Scopes,
    /// `aud`
    pub audience: Vec<String>,
    /// `exp`, in seconds.
    pub expires_at: f64,
    /// `nbf`, in seconds.
    pub not_before: Option<f64>,
    /// `iat`, in seconds.
    pub issued_at: Option<f64>,
    /// `acr` (RFC 9470 §6)
    pub acr: Option<String>,
    /// `auth_time`, in seconds.
    pub auth_time: Option<f64>,
    /// The thumbprint of the key that a sender must prove to have.
    pub(crate) jkt: Option<String>,
    /// The thumbprint of the certificate that a sender must show.
    pub(crate) x5t: Option<String>,
    /// All claims as JSON text.
    pub claims: Vec<u8>,
}

impl Facts {
    /// The thumbprint of the key that the token is bound to (RFC 9449 §6.1).
    pub fn jkt(&self) -> Option<&str> {
        self.jkt.as_deref()
    }

    /// The thumbprint of the certificate that the token is bound to (RFC 8705 §3.1).
    pub fn x5t(&self) -> Option<&str> {
        self.x5t.as_deref()
    }
}

/// Shows whose token it is and what it opens; claims are personal.
impl fmt::Debug for Facts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Facts")
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes.len())
            .field("claims_bytes", &self.claims.len())
            .finish_non_exhaustive()
    }
}
