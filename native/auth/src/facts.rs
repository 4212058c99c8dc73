//! What a verified access token says.

use std::fmt;

use sha2::{Digest, Sha256};

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
    /// `exp`, in seconds; infinite where an issuer that is asked names no end.
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
    /// What ties sessions, cursors, request states and streams to their owner: SHA-256 over issuer, subject, client and
    /// tenant, each after its length.
    pub fn binding_key(&self, tenant: Option<&str>) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [
            Some(&*self.issuer),
            Some(&*self.subject),
            self.client_id.as_deref(),
            tenant,
        ] {
            // What is not there differs from what is empty.
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            hash.update(length.to_be_bytes());
            hash.update(part.unwrap_or_default());
        }
        hash.finalize().into()
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// `BeamMCP.TokenFacts` has the same key in its test.
    #[test]
    fn the_key_is_that_of_the_beam_side() {
        let facts = Facts {
            issuer_index: 0,
            issuer: "i".into(),
            subject: "s".into(),
            client_id: Some("c".into()),
            jti: None,
            scopes: Scopes::default(),
            audience: Vec::new(),
            expires_at: 0.0,
            not_before: None,
            issued_at: None,
            acr: None,
            auth_time: None,
            jkt: None,
            x5t: None,
            claims: Vec::new(),
        };
        let hex: Vec<_> = facts.binding_key(None)[..8]
            .iter()
            .map(|octet| format!("{octet:02x}"))
            .collect();
        assert_eq!(hex.concat(), "18f7c790efb45f3c");
        assert_ne!(facts.binding_key(None), facts.binding_key(Some("")));
    }
}
