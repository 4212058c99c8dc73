//! The certificate that a client showed (RFC 8705 §3.1).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::base64url;

/// A client's certificate, known by its thumbprint `x5t#S256`.
#[derive(Clone, Eq, PartialEq)]
pub struct Certificate {
    thumbprint: String,
}

/// A `Client-Cert` header that is no byte sequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MalformedCertificate;

impl Certificate {
    /// The leaf certificate of a TLS connection, in DER.
    pub fn from_der(der: &[u8]) -> Self {
        Self {
            thumbprint: base64url::encode(&Sha256::digest(der)),
        }
    }

    /// The value of a trusted proxy's `Client-Cert` header (RFC 9440 §2.1): a byte sequence (RFC 8941 §3.3.5).
    ///
    /// # Errors
    /// When it is anything else; such a certificate is no bound token's.
    pub fn from_header(value: &[u8]) -> Result<Self, MalformedCertificate> {
        let base64 = value
            .strip_prefix(b":")
            .and_then(|rest| rest.strip_suffix(b":"))
            .ok_or(MalformedCertificate)?;
        let der = STANDARD.decode(base64).map_err(|_| MalformedCertificate)?;
        match der.is_empty() {
            true => Err(MalformedCertificate),
            false => Ok(Self::from_der(&der)),
        }
    }

    pub(crate) fn thumbprint(&self) -> &str {
        &self.thumbprint
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
            Ok(Certificate::from_der(&[1, 2, 3]))
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
        ] {
            assert_eq!(
                Certificate::from_header(malformed.as_bytes()),
                Err(MalformedCertificate),
                "{malformed}"
            );
        }
    }
}
