//! What a document notes of each value.

/// One value of a document, or one key of an object.
///
/// A tape holds the entries in source order: a container, then its content, each key right before its
/// value. What kind of value an entry is shows in the first byte of its text, so it is not stored.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Offset of the first byte of the value's text.
    pub(crate) start: u32,
    /// Offset behind the last byte of the value's text.
    pub(crate) end: u32,
    /// Index of the entry behind this value and all it contains. While a container is still being
    /// read: the index of the container around it, so that the tape serves as the parser's stack.
    pub(crate) next: u32,
    /// Members or items of a container; for a string [`ESCAPED`] or 0, for a number [`FLOAT`] or 0.
    pub(crate) detail: u32,
}

/// Marks a string whose text has escapes, so that it must be decoded.
pub(crate) const ESCAPED: u32 = 1;

/// Marks a number with a fraction or an exponent.
pub(crate) const FLOAT: u32 = 1;
