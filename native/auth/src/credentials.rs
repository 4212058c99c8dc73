//! What a request shows of its sender, before any of it is believed (RFC 6750 §2.1, RFC 9449 §7.1).

use std::fmt;

use crate::{
    certificate::Certificate,
    config::{Config, Dpop},
    query,
    reason::Reason,
    token::TokenDigest,
};

/// The part of a request's head that credentials are in.
#[derive(Clone)]
pub struct Head<'a> {
    /// The HTTP method as it came.
    pub method: &'a str,
    /// Path and query as they came.
    pub target: &'a str,
    /// Every `Authorization` line.
    pub authorization: Vec<&'a [u8]>,
    /// Every `DPoP` line.
    pub dpop: Vec<&'a [u8]>,
    /// The certificate of the connection, as far as whoever tells of it is trusted.
    pub certificate: Option<Certificate>,
}

/// The authentication schemes that are served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scheme {
    /// RFC 6750
    Bearer,
    /// RFC 9449
    Dpop,
}

/// An access token with what came along.
#[derive(Clone)]
pub struct Credentials<'a> {
    /// The scheme that the request used.
    pub scheme: Scheme,
    pub(crate) token: &'a str,
    pub(crate) proof: Option<&'a [u8]>,
    digest: TokenDigest,
}

impl Scheme {
    /// The scheme's name in a header.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }

    /// Names of schemes have no case (RFC 9110 §11.1).
    fn parse(name: &str) -> Option<Self> {
        let mut schemes = [Self::Bearer, Self::Dpop].into_iter();
        schemes.find(|scheme| scheme.as_str().eq_ignore_ascii_case(name))
    }
}

impl<'a> Credentials<'a> {
    /// Finds the credentials of a request, in its `Authorization` header and nowhere else.
    ///
    /// # Errors
    /// The reason why there are none that are worth a look.
    pub fn read(head: &Head<'a>, config: &Config) -> Result<Self, Reason> {
        if query::holds_access_token(head.target) {
            return Err(Reason::TokenInQuery);
        }
        let value = match *head.authorization {
            [] => return Err(Reason::NoCredentials),
            [value] => value,
            _ => return Err(Reason::AuthorizationRepeated),
        };
        let dpop = config.settings().dpop;
        let (scheme, token) = split(value, dpop)?;
        let proof = match (scheme, &*head.dpop) {
            (Scheme::Bearer, [_, ..]) if dpop != Dpop::Off => {
                return Err(Reason::DpopSchemeRequired);
            }
            (Scheme::Bearer, _) => None,
            (Scheme::Dpop, []) => return Err(Reason::DpopMissing),
            (Scheme::Dpop, [proof]) => Some(*proof),
            (Scheme::Dpop, _) => return Err(Reason::DpopMultiple),
        };
        Ok(Self {
            scheme,
            token,
            proof,
            digest: TokenDigest::of(token),
        })
    }

    /// Whether a proof came along, which is verified each time.
    pub fn has_proof(&self) -> bool {
        self.proof.is_some()
    }

    /// By what a cache may know the token.
    pub fn digest(&self) -> TokenDigest {
        self.digest
    }
}

/// `scheme 1*SP token68` (RFC 9110 §11.4)
fn split(value: &[u8], dpop: Dpop) -> Result<(Scheme, &str), Reason> {
    let end = value.iter().position(|byte| *byte == b' ');
    let (name, rest) = value.split_at(end.unwrap_or(value.len()));
    let scheme = str::from_utf8(name)
        .ok()
        .and_then(Scheme::parse)
        .filter(|scheme| *scheme != Scheme::Dpop || dpop != Dpop::Off)
        .ok_or(Reason::UnsupportedScheme)?;
    let Some(start) = rest.iter().position(|byte| *byte != b' ') else {
        return Err(Reason::EmptyCredentials);
    };
    let token = &rest[start..];
    let token = str::from_utf8(token).map_err(|_| Reason::MalformedToken)?;
    match is_token68(token) {
        true => Ok((scheme, token)),
        false => Err(Reason::MalformedToken),
    }
}

/// RFC 9110 §11.2
fn is_token68(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    // Looks at all octets, which is several at a time.
    !bare.is_empty()
        && bare
            .bytes()
            .fold(true, |all, octet| all & is_of_token68(octet))
}

fn is_of_token68(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() | matches!(octet, b'-' | b'.' | b'_' | b'~' | b'+' | b'/')
}

/// Shows the scheme and how long the token is.
impl fmt::Debug for Credentials<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, octets) = (self.scheme.as_str(), self.token.len());
        write!(out, "Credentials({scheme}, {octets} octets)")
    }
}

/// Shows where the request goes; what it holds is secret.
impl fmt::Debug for Head<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Head")
            .field("method", &self.method)
            .field("authorization", &self.authorization.len())
            .field("dpop", &self.dpop.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_and_nothing_else_stand_before_a_token() {
        for value in ["Bearer a", "bearer  a", "BEARER     a"] {
            assert_eq!(
                split(value.as_bytes(), Dpop::Off),
                Ok((Scheme::Bearer, "a")),
                "{value}"
            );
        }
        for value in ["Bearer \ta", "Bearer \x0ca", "Bearer a ", "Bearer a\t"] {
            let malformed = Err(Reason::MalformedToken);
            assert_eq!(split(value.as_bytes(), Dpop::Off), malformed, "{value:?}");
        }
        for value in ["Bearer", "Bearer ", "Bearer   "] {
            let empty = Err(Reason::EmptyCredentials);
            assert_eq!(split(value.as_bytes(), Dpop::Off), empty, "{value:?}");
        }
    }
}
