//! A checked text and the positions of its values.

use std::fmt::{self, Debug, Formatter};

use bytes::Bytes;
use bytestring::ByteString;

use crate::tape::Entry;
use crate::{Error, ErrorKind, Limits, Node, parser};

/// A JSON text that was read and found strict, with the positions of its values.
///
/// It keeps the bytes as they came and 16 bytes for each value and each key; a clone copies the latter.
#[derive(Clone)]
pub struct Document {
    text: ByteString,
    tape: Vec<Entry>,
}

/// The position of a value inside its [`Document`], for owners that keep both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(pub(crate) u32);

impl Document {
    /// Reads one JSON text (RFC 8259), which must be UTF-8 without a byte order mark.
    ///
    /// Refused beyond the grammar: an object with equal keys, lone surrogates, numbers with a fraction
    /// or an exponent that are no finite 64-bit float, and what exceeds `limits`. The cost is linear in
    /// the length of the text, whatever it holds.
    ///
    /// # Errors
    ///
    /// The first fault found, with its offset; see [`ErrorKind`]. Equal keys are found where their
    /// object closes, so a fault of grammar inside the same object is named first.
    pub fn parse(bytes: Bytes, limits: &Limits) -> Result<Self, Error> {
        parser::check_size(bytes.len())?;
        let text = ByteString::try_from(bytes)
            .map_err(|error| Error::new(ErrorKind::NotUtf8, error.valid_up_to()))?;
        let tape = parser::parse(&text, limits)?;
        Ok(Self { text, tape })
    }

    /// The value of the whole text.
    #[inline]
    pub fn root(&self) -> Node<'_> {
        Node::new(&self.text, &self.tape, 0)
    }

    /// The value at a position that [`Node::id`] gave out.
    ///
    /// # Panics
    ///
    /// If `at` lies outside this document, hence came from another one.
    #[inline]
    pub fn node(&self, at: NodeId) -> Node<'_> {
        assert!(
            (at.0 as usize) < self.tape.len(),
            "a node of another document"
        );
        Node::new(&self.text, &self.tape, at.0)
    }

    /// The text as it came.
    #[inline]
    pub fn bytes(&self) -> &Bytes {
        self.text.as_bytes()
    }

    /// Values and keys in the document: a measure of the work that decoding it takes.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a document has at least its root"
    )]
    #[inline]
    pub fn len(&self) -> usize {
        self.tape.len()
    }
}

impl Debug for Document {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("bytes", &self.text.len())
            .field("len", &self.tape.len())
            .finish()
    }
}
