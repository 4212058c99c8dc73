//! A compact JWS (RFC 7515 §7.1), taken apart and not yet believed.

use mcp_json::{Document, Kind, Limits};

use crate::base64url;

/// Three segments and what they decode to.
pub(crate) struct Jws<'a> {
    header: Document,
    pub(crate) payload: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    /// The bytes that are signed, as they came.
    pub(crate) signed: &'a [u8],
}

impl<'a> Jws<'a> {
    /// Takes `text` apart: exactly three segments of strict base64url, the first of which is a JSON object whose names
    /// differ.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        Some(Self {
            header: object(base64url::decode(header)?)?,
            // A fourth segment has its dot in here, which is no base64url.
            payload: base64url::decode(payload)?,
            signature: base64url::decode(signature)?,
            signed: signed.as_bytes(),
        })
    }

    pub(crate) fn header(&self) -> mcp_json::Node<'_> {
        self.header.root()
    }
}

/// A JSON object without repeated names (RFC 8725 §2.6).
pub(crate) fn object(bytes: Vec<u8>) -> Option<Document> {
    let document = Document::parse(bytes.into(), &LIMITS).ok()?;
    (document.root().kind() == Kind::Object).then_some(document)
}

/// Claims and keys are shallow and their numbers short.
const LIMITS: Limits = Limits {
    max_depth: 16,
    max_number_digits: 64,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn text(header: &str, payload: &str) -> String {
        let [header, payload] = [header, payload].map(|part| base64url::encode(part.as_bytes()));
        format!("{header}.{payload}.AQ")
    }

    #[test]
    fn has_three_segments_and_a_strict_header() {
        let whole = text(r#"{"alg":"ES256"}"#, "{}");
        let jws = Jws::parse(&whole).unwrap();
        assert_eq!(jws.signature, [1]);
        assert_eq!([jws.signed, b".AQ"].concat(), whole.as_bytes());
        for broken in [
            "",
            ".",
            "..",
            &whole[..whole.len() - 3],
            &format!("{whole}.AQ"),
            &format!("{whole}="),
            &text("[]", "{}"),
            &text(r#"{"alg":"ES256","alg":"none"}"#, "{}"),
        ] {
            assert!(Jws::parse(broken).is_none(), "{broken}");
        }
    }
}
