//! Request ids: echoed as they came, compared by what they mean.

use mcp_json::{Kind, Node, Number};
use smol_str::SmolStr;

/// The longest id accepted, in bytes of its JSON text.
pub const MAX_ID_BYTES: usize = 1_024;

/// A JSON-RPC request id: a string or an integer, kept as the JSON text that is echoed.
#[derive(Clone, Debug)]
pub struct RequestId {
    raw: SmolStr,
}

/// What an id means, for telling requests apart: `"1"` and `1` differ, `"a"` and `"\u0061"` do not.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum IdKey {
    /// An integer, in canonical decimal text.
    Integer(Box<str>),
    /// A string, decoded.
    String(Box<str>),
}

/// Why a value is no request id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InvalidId {
    /// Neither a string nor an integer (MCP basic: never null, never a fraction).
    Type,
    /// Longer than [`MAX_ID_BYTES`].
    TooLong,
}

impl RequestId {
    /// Reads an id.
    ///
    /// # Errors
    /// [`InvalidId`] says which rule it breaks.
    pub fn parse(node: Node<'_>) -> Result<Self, InvalidId> {
        let is_id = match node.kind() {
            Kind::String => true,
            Kind::Number => !matches!(node.number(), Some(Number::Float(_)) | None),
            _ => false,
        };
        match node.raw() {
            _ if !is_id => Err(InvalidId::Type),
            raw if raw.len() > MAX_ID_BYTES => Err(InvalidId::TooLong),
            raw => Ok(Self { raw: raw.into() }),
        }
    }

    /// The id as JSON, byte for byte as the peer wrote it.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// What the id means.
    pub fn key(node: Node<'_>) -> IdKey {
        match node.number() {
            Some(Number::Integer(value)) => IdKey::Integer(value.to_string().into()),
            Some(Number::Big(text)) => IdKey::Integer(text.into()),
            Some(Number::Float(_)) => IdKey::Integer(node.raw().into()),
            None => IdKey::String(node.as_str().unwrap_or_default().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcp_json::{Document, Limits};

    use super::*;

    fn with<T>(json: &str, read: impl Fn(Node<'_>) -> T) -> T {
        let document = Document::parse(Bytes::copy_from_slice(json.as_bytes()), &Limits::default());
        read(document.expect("valid JSON").root())
    }

    #[test]
    fn accepts_strings_and_integers_only() {
        for good in ["0", "-1", "\"\"", "\"a\"", "123456789012345678901234567890"] {
            assert_eq!(with(good, RequestId::parse).expect("an id").raw(), good);
        }
        for bad in ["null", "1.5", "3100.0", "1e2", "true", "[]", "{}"] {
            assert_eq!(
                with(bad, RequestId::parse).expect_err("no id"),
                InvalidId::Type
            );
        }
    }

    #[test]
    fn refuses_an_endless_id() {
        let long = format!("\"{}\"", "x".repeat(MAX_ID_BYTES));
        assert_eq!(
            with(&long, RequestId::parse).expect_err("too long"),
            InvalidId::TooLong
        );
    }

    #[test]
    fn compares_meaning_and_type() {
        assert_eq!(
            with("\"a\"", RequestId::key),
            with("\"\\u0061\"", RequestId::key)
        );
        assert_ne!(with("\"1\"", RequestId::key), with("1", RequestId::key));
        assert_eq!(with("-0", RequestId::key), with("0", RequestId::key));
    }
}
