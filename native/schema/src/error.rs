//! Why a schema is refused.

use std::fmt;

use crate::text;

/// A schema document that is refused, at its first fault.
///
/// Its text is one sentence: the place, what was found, and the way out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// Where in the document, as a JSON Pointer; empty for the document itself.
    pub pointer: String,
    /// What is wrong there.
    pub kind: ErrorKind,
}

/// What is wrong with a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is no JSON object.
    NotAnObject {
        /// The type that came instead.
        found: &'static str,
    },
    /// The root of an input schema does not say `"type": "object"`.
    RootType {
        /// The `type` that came instead, or nothing.
        found: Option<String>,
    },
    /// `$schema` names a dialect that is not spoken here.
    Dialect {
        /// The name that came.
        found: String,
    },
    /// `$schema` of a subschema names another dialect than its document.
    MixedDialects {
        /// The name that came.
        found: String,
    },
    /// The document nests too deep.
    TooDeep {
        /// The limit.
        allowed: usize,
    },
    /// The document is too large.
    TooLarge {
        /// Bytes of the document.
        found: usize,
        /// The limit.
        allowed: usize,
    },
    /// The document breaks the rules of its dialect.
    Malformed {
        /// What the dialect asks for there.
        expected: String,
        /// What came.
        found: String,
    },
    /// An `$id` or an anchor is no valid name.
    Name {
        /// The name.
        found: String,
    },
    /// An `$id` or an anchor names two places.
    RepeatedName {
        /// The name.
        found: String,
    },
    /// A reference leads out of the document.
    OutsideReference {
        /// The reference as it was written.
        reference: String,
    },
    /// A reference leads to no place in the document.
    DeadReference {
        /// The reference as it was written.
        reference: String,
    },
    /// A schema applies to the value it was already applied to, without end.
    EndlessReference,
    /// One instance value would cost too many keyword evaluations.
    TooCostly {
        /// Keyword evaluations with references expanded.
        found: u64,
        /// The limit.
        allowed: u64,
    },
    /// Too many subschemas apply to one instance value, each inside the other.
    ChainTooLong {
        /// Subschemas in the longest chain.
        found: usize,
        /// The limit.
        allowed: usize,
    },
    /// A regular expression looks around.
    LookAround {
        /// The expression.
        pattern: String,
    },
    /// A regular expression refers back to what it matched.
    BackReference {
        /// The expression.
        pattern: String,
    },
    /// A regular expression cannot be compiled.
    Pattern {
        /// The expression.
        pattern: String,
    },
    /// `x-mcp-header` stands where no property of the arguments is declared.
    HeaderPlace,
    /// The name in `x-mcp-header` is no header token.
    HeaderName {
        /// The value that came.
        found: String,
    },
    /// A property with `x-mcp-header` has a type that no header carries.
    HeaderType {
        /// The `type` that came, or nothing.
        found: Option<String>,
    },
    /// Two properties ask for the same header.
    RepeatedHeader {
        /// The name, as the later property writes it.
        name: String,
        /// Pointer of the earlier property.
        first: String,
    },
}

impl Error {
    pub(crate) fn new(pointer: impl Into<String>, kind: ErrorKind) -> Self {
        Self {
            pointer: pointer.into(),
            kind,
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", text::place(&self.pointer), self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject { found } => {
                write!(
                    f,
                    "a schema must be a JSON object, found {found}; write {{}} to admit any value"
                )
            }
            Self::RootType { found } => {
                write!(
                    f,
                    "the root of an input schema must say \"type\": \"object\", found "
                )?;
                match found {
                    Some(found) => write!(f, "{found}")?,
                    None => write!(f, "no type")?,
                }
                write!(f, "; declare the arguments as properties of an object")
            }
            Self::Dialect { found } => write!(
                f,
                "the dialect {found} is not supported; use 2020-12 (the default) or draft-07"
            ),
            Self::MixedDialects { found } => write!(
                f,
                "the dialect {found} differs from the document's; use one dialect in a document"
            ),
            Self::TooDeep { allowed } => write!(
                f,
                "the schema nests deeper than {allowed} levels; move inner schemas to $defs"
            ),
            Self::TooLarge { found, allowed } => {
                write!(
                    f,
                    "the schema has {found} bytes, allowed are {allowed}; describe less"
                )
            }
            Self::Malformed { expected, found } => {
                write!(
                    f,
                    "the dialect asks for {expected}, found {found}; correct it"
                )
            }
            Self::Name { found } => {
                write!(f, "{found} is no valid name; use a URI without fragment")
            }
            Self::RepeatedName { found } => {
                write!(f, "the name {found} is taken in this document; use another")
            }
            Self::OutsideReference { reference } => write!(
                f,
                "the reference {reference} leads out of the document and nothing is ever fetched; put \
                 its target under $defs"
            ),
            Self::DeadReference { reference } => {
                write!(
                    f,
                    "the reference {reference} leads nowhere; declare its target under $defs"
                )
            }
            Self::EndlessReference => write!(
                f,
                "the schema applies itself to the same value without end; recurse through properties or \
                 items"
            ),
            Self::TooCostly { found, allowed } => write!(
                f,
                "one value would cost {found} keyword evaluations with references expanded, allowed are \
                 {allowed}; nest fewer alternatives"
            ),
            Self::ChainTooLong { found, allowed } => write!(
                f,
                "{found} subschemas apply to one value each inside the other, allowed are {allowed}; \
                 shorten the chain of references"
            ),
            Self::LookAround { pattern } => write!(
                f,
                "the pattern {pattern} uses look-around, which has no linear-time matcher; split it into \
                 several patterns under allOf"
            ),
            Self::BackReference { pattern } => write!(
                f,
                "the pattern {pattern} uses a back-reference, which has no linear-time matcher; spell \
                 the alternatives out"
            ),
            Self::Pattern { pattern } => write!(
                f,
                "the pattern {pattern} is malformed or compiles to more than 1 MiB; correct or shorten it"
            ),
            Self::HeaderPlace => write!(
                f,
                "x-mcp-header is allowed only on properties reached from the root through \"properties\" \
                 alone; move or remove it"
            ),
            Self::HeaderName { found } => write!(
                f,
                "x-mcp-header must be a non-empty header token, found {found}; use letters, digits and \
                 hyphens"
            ),
            Self::HeaderType { found } => {
                write!(
                    f,
                    "a property with x-mcp-header must have the type string, integer or boolean"
                )?;
                match found {
                    Some(found) => write!(f, ", found {found}; ")?,
                    None => write!(f, ", found none; ")?,
                }
                write!(f, "declare one of them or remove the annotation")
            }
            Self::RepeatedHeader { name, first } => write!(
                f,
                "x-mcp-header {name} is taken by {first} (case does not count); use another name"
            ),
        }
    }
}
