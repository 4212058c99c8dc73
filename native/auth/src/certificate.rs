//! The certificate that a client showed (RFC 8705 §3.1).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::base64url;

/// A client's certificate, known by its thumbprint `x5t#S256`.
#[derive(Clone, Eq, PartialEq)]
pub struct Certificate {
    thumbprint: Option<String>,
}

impl Certificate {
    /// The leaf certificate of a TLS connection, in DER.
    pub fn from_der(der: &[u8]) -> Self {
        Self {
            thumbprint: Some(base64url::encode(&Sha256::digest(der))),
        }
    }

    /// The value of a trusted proxy's `Client-Cert` header (RFC 9440 §2.1): a byte sequence (RFC 8941 §3.3.5). Anything
    /// else is [unreadable](Self::unreadable).
    pub fn from_header(value: &[u8]) -> Self {
        let base64 = value
            .strip_prefix(b":")
            .and_then(|rest| rest.strip_suffix(b":"));
        let der = base64.and_then(|base64| STANDARD.decode(base64).ok());
        match der.filter(|der| !der.is_empty()) {
            Some(der) => Self::from_der(&der),
            None => Self::unreadable(),
        }
    }

    /// A certificate that nobody can read: it is no bound token's.
    pub fn unreadable() -> Self {
        Self { thumbprint: None }
    }

    /// `x5t#S256` (RFC 8705 §3.1), for one that can be read.
    pub fn thumbprint(&self) -> Option<&str> {
        self.thumbprint.as_deref()
    }
}

/// Shows nothing: a thumbprint names a client.
impl fmt::Debug for Certificate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Certificate(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_holds_a_byte_sequence() {
        assert_eq!(
            Certificate::from_header(b":AQID:"),
            Certificate::from_der(&[1, 2, 3])
        );
        for malformed in [
            "",
            ":",
            "::",
            "AQID",
            ":AQID",
            ":AQI:",
            ":AQ-D:",
            ":AQID:;a=1",
            ":AQID:, :AQID:",
        ] {
            assert_eq!(
                Certificate::from_header(malformed.as_bytes()),
                Certificate::unreadable(),
                "{malformed}"
            );
        }
    }
}
