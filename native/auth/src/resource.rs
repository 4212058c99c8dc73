//! The identifier of the protected resource (RFC 9728 §1.2, RFC 8707 §2) and where its metadata is.

use std::{error, fmt};

use crate::uri::{Uri, split_authority};

/// The public URL of the endpoint in its one canonical spelling.
#[derive(Clone, Debug)]
pub struct Resource {
    text: String,
    /// Up to the end of the authority.
    origin: usize,
    uri: Uri,
}

/// Why a text is no resource.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ResourceError {
    /// No scheme and authority.
    Relative,
    /// A `#`.
    Fragment,
    /// Another scheme than https and http.
    Scheme,
    /// No host, or a port that is none.
    Host,
    /// A user's name.
    Userinfo,
    /// Capital letters in scheme or host, or characters that no URL has.
    NotCanonical,
    /// http to another host than this machine.
    Insecure,
    /// Dot segments.
    Path,
}

impl Resource {
    /// Reads an absolute URL, which must be spelled as it is to be compared.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, ResourceError> {
        let (scheme, rest) = text.split_once("://").ok_or(ResourceError::Relative)?;
        if text.contains('#') {
            return Err(ResourceError::Fragment);
        }
        if !matches!(scheme, "https" | "http") {
            return Err(ResourceError::Scheme);
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.contains('@') {
            return Err(ResourceError::Userinfo);
        }
        let (host, _) = split_authority(authority).ok_or(ResourceError::Host)?;
        if authority.bytes().any(|byte| byte.is_ascii_uppercase()) || !text.bytes().all(is_of_url) {
            return Err(ResourceError::NotCanonical);
        }
        if scheme == "http" && !LOOPBACK.contains(&host) {
            return Err(ResourceError::Insecure);
        }
        let path = rest.split('?').next().unwrap_or_default();
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err(ResourceError::Path);
        }
        Ok(Self {
            uri: Uri::parse(text).ok_or(ResourceError::Host)?,
            origin: text.len() - rest.len(),
            text: text.to_owned(),
        })
    }

    /// The identifier, byte for byte as configured.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.text[..self.origin]
    }

    /// The path of the endpoint, `/` where there is none.
    pub fn path(&self) -> &str {
        match self.path_and_query().split('?').next() {
            None | Some("") => "/",
            Some(path) => path,
        }
    }

    /// Where the metadata document is: path and query (RFC 9728 §3.1).
    pub fn metadata_target(&self) -> String {
        let rest = self.path_and_query();
        let rest = match rest.strip_prefix('/') {
            Some("") => "",
            Some(query) if query.starts_with('?') => query,
            _ => rest,
        };
        format!("{WELL_KNOWN}{rest}")
    }

    /// The whole URL of the metadata document.
    pub fn metadata_url(&self) -> String {
        format!("{}{}", self.origin(), self.metadata_target())
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    fn path_and_query(&self) -> &str {
        &self.text[self.origin..]
    }
}

impl ResourceError {
    /// The word for it.
    pub fn word(self) -> &'static str {
        self.row().0
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::Relative => ("relative", "it is no absolute URL"),
            Self::Fragment => ("fragment", "it has a fragment"),
            Self::Scheme => ("scheme", "its scheme is neither https nor http"),
            Self::Host => ("host", "it has no host, or no port after the colon"),
            Self::Userinfo => ("userinfo", "it names a user"),
            Self::NotCanonical => (
                "not_canonical",
                "its host has capital letters, or it has characters that a URL escapes",
            ),
            Self::Insecure => ("insecure", "http is for this machine alone: use https"),
            Self::Path => ("path", "its path has dot segments"),
        }
    }
}

impl fmt::Display for ResourceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.row().1)
    }
}

impl error::Error for ResourceError {}

/// Printable, and none of those that must be escaped (RFC 3986 §2).
fn is_of_url(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)
}

/// The well-known path of a resource without a path of its own, which many clients try second.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Hosts that never leave the machine.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_an_origin_and_a_path() {
        for (text, origin, path) in [
            ("https://a.example", "https://a.example", "/"),
            ("https://a.example/?t=1", "https://a.example", "/"),
            ("https://a.example:1/m/?t=/", "https://a.example:1", "/m/"),
        ] {
            let resource = Resource::parse(text).unwrap();
            assert_eq!((resource.origin(), resource.path()), (origin, path));
        }
    }

    #[test]
    fn what_could_break_a_header_is_no_resource() {
        for text in [
            "https://a/m\"",
            "https://a/m n",
            "https://a/m\n",
            "https://a/é",
        ] {
            let error = Resource::parse(text).unwrap_err();
            assert_eq!(error, ResourceError::NotCanonical);
        }
    }
}
