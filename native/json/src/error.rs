//! Why a text is refused.

use std::error;
use std::fmt::{self, Display, Formatter};

/// Why a text was refused, and where.
///
/// The message names the limit or the syntax that was expected. Of the text itself it repeats nothing
/// but a duplicate key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What was wrong.
    pub kind: ErrorKind,
    /// The byte at which it was wrong; the length of the text if the text ended too early.
    pub offset: usize,
}

/// What can be wrong with a text.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes are not UTF-8 (RFC 8259 section 8.1).
    NotUtf8,
    /// The grammar of RFC 8259 asks for something else here; holds what was expected.
    Syntax(&'static str),
    /// An object has one key twice, compared after decoding; holds its first 64 characters.
    DuplicateKey(String),
    /// Arrays and objects lie inside one another deeper than [`Limits::max_depth`](crate::Limits).
    TooDeep {
        /// The levels allowed.
        limit: usize,
    },
    /// A number has more digits than [`Limits::max_number_digits`](crate::Limits).
    NumberTooLong {
        /// The digits allowed.
        limit: usize,
        /// The digits found.
        got: usize,
    },
    /// A number with a fraction or an exponent is beyond the range of a 64-bit float.
    NumberNotFinite,
    /// A `\u` escape names one half of a surrogate pair without the other.
    LoneSurrogate,
    /// Something other than white space follows the value.
    TrailingBytes,
    /// There is nothing but white space.
    Empty,
    /// The text is longer than the 32-bit offsets of a document reach.
    TooLarge {
        /// The bytes allowed.
        limit: usize,
        /// The bytes of the text.
        got: usize,
    },
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    #[cold]
    pub(crate) const fn expected(what: &'static str, offset: usize) -> Self {
        Self::new(ErrorKind::Syntax(what), offset)
    }

    #[cold]
    pub(crate) fn duplicate(key: &str, offset: usize) -> Self {
        let shown = key.chars().take(MAX_KEY_CHARS).collect();
        Self::new(ErrorKind::DuplicateKey(shown), offset)
    }

    /// Whether `text` could go on to be valid: it only ended too early.
    pub(crate) const fn is_end_of(&self, text: &str) -> bool {
        matches!(self.kind, ErrorKind::Syntax(_)) && self.offset == text.len()
    }

    /// Whether the text cannot be read as JSON at all (JSON-RPC's -32700); otherwise it is JSON that
    /// is refused as a request (-32600).
    pub const fn is_syntax(&self) -> bool {
        !matches!(
            self.kind,
            ErrorKind::DuplicateKey(_) | ErrorKind::TooDeep { .. } | ErrorKind::TooLarge { .. }
        )
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let at = self.offset;
        match &self.kind {
            ErrorKind::NotUtf8 => write!(f, "not UTF-8 at byte {at}"),
            ErrorKind::Syntax(what) => write!(f, "expected {what} at byte {at}"),
            ErrorKind::DuplicateKey(key) => write!(f, "duplicate key {key:?} at byte {at}"),
            ErrorKind::TooDeep { limit } => {
                write!(f, "nested deeper than {limit} levels at byte {at}")
            }
            ErrorKind::NumberTooLong { limit, got } => {
                write!(
                    f,
                    "a number of {got} digits at byte {at}, at most {limit} are allowed"
                )
            }
            ErrorKind::NumberNotFinite => {
                write!(
                    f,
                    "a number beyond the range of a 64-bit float at byte {at}"
                )
            }
            ErrorKind::LoneSurrogate => write!(f, "half a surrogate pair escaped at byte {at}"),
            ErrorKind::TrailingBytes => {
                write!(f, "expected nothing more after the value at byte {at}")
            }
            ErrorKind::Empty => write!(f, "expected a JSON value, found none in {at} bytes"),
            ErrorKind::TooLarge { limit, got } => {
                write!(f, "a text of {got} bytes, at most {limit} are allowed")
            }
        }
    }
}

impl error::Error for Error {}

/// Characters of a duplicate key that an error repeats.
const MAX_KEY_CHARS: usize = 64;
