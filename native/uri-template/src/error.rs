//! Why a template is refused.

use std::fmt::{self, Display, Formatter};

/// Why a template is refused, and where.
///
/// Its text is one sentence: the place, what was found, and the way out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TemplateError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The byte at which it is wrong.
    pub offset: usize,
}

/// What can be wrong with a template.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no text.
    Empty,
    /// The text is longer than [`Template::MAX_BYTES`](crate::Template::MAX_BYTES).
    TooLong {
        /// The bytes of the text.
        found: usize,
        /// The bytes allowed.
        allowed: usize,
    },
    /// A character that no URI holds.
    Character {
        /// The character.
        found: char,
    },
    /// A percent sign without two hexadecimal digits.
    Percent,
    /// A `{` without its `}`.
    Unclosed,
    /// A `}` without its `{`.
    Unopened,
    /// An operator that RFC 6570 keeps for later.
    Operator {
        /// The operator.
        found: char,
    },
    /// A variable has no name, or one with other characters than letters, digits, `_` and inner dots.
    Name {
        /// What stands for the name.
        found: String,
    },
    /// A variable with the explode modifier of level 4, as in `{a*}`.
    Explode {
        /// The variable.
        name: String,
    },
    /// A variable with the prefix modifier of level 4, as in `{a:3}`.
    Prefix {
        /// The variable.
        name: String,
    },
    /// Two variables with one name.
    Duplicate {
        /// The name.
        name: String,
    },
    /// The values of two variables cannot be told apart in a URI.
    Ambiguous {
        /// The variable that comes first.
        first: String,
        /// The variable that comes later.
        second: String,
    },
    /// Something follows `{?..}`, `{&..}` or `{;..}` before the next part of the URI.
    NamedNotLast,
}

impl TemplateError {
    pub(crate) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }
}

impl std::error::Error for TemplateError {}

impl Display for TemplateError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.kind)
    }
}

impl Display for ErrorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(
                f,
                "the template is empty; write one such as \"notes://{{id}}\""
            ),
            Self::TooLong { found, allowed } => write!(
                f,
                "the template has {found} bytes, allowed are {allowed}; shorten it"
            ),
            Self::Character { found } => {
                write!(f, "no URI holds {found:?}; percent-encode it")
            }
            Self::Percent => write!(
                f,
                "two hexadecimal digits must follow a percent sign; write %25 for the sign itself"
            ),
            Self::Unclosed => write!(f, "the expression has no end; close it with \"}}\""),
            Self::Unopened => write!(
                f,
                "\"}}\" ends no expression; write %7D for the character itself"
            ),
            Self::Operator { found } => write!(
                f,
                "RFC 6570 has no operator {found:?}; use one of + # . / ; ? & or none"
            ),
            Self::Name { found } => write!(
                f,
                "{found:?} is no name of a variable; use letters, digits, \"_\" and inner dots"
            ),
            Self::Explode { name } => write!(
                f,
                "the explode modifier of \"{name}*\" (level 4) cannot be matched; remove the \"*\""
            ),
            Self::Prefix { name } => write!(
                f,
                "the prefix modifier of {name:?} (level 4) cannot be matched; remove the \":\" and \
                 what follows it"
            ),
            Self::Duplicate { name } => write!(
                f,
                "the variable {name:?} occurs twice; give each variable its own name"
            ),
            Self::Ambiguous { first, second } => write!(
                f,
                "a URI does not tell where the variable {first:?} ends and {second:?} begins; \
                 separate simple variables by \"/\", and keep \"+\" for the last one"
            ),
            Self::NamedNotLast => write!(
                f,
                "nothing but a query or a fragment can follow a named expression; put all named \
                 variables into one expression and move it to the end"
            ),
        }
    }
}
