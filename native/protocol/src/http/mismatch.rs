//! A header that does not mirror the body as it must, and the words for it.

use crate::{
    error::{Code, Error},
    excerpt::excerpt,
    word,
};

use super::base64_form::Invalid;

/// What is wrong with one header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mismatch<'a> {
    /// Not there, though the body has a value to mirror.
    Missing,
    /// There more than once; even equal values hide what an intermediary chose.
    Repeated,
    /// Not a value that a client may send.
    Invalid(Invalid, &'a [u8]),
    /// There, though the body has nothing to mirror.
    Unexpected(&'a [u8]),
    /// Another value than the body has.
    Differs(&'a [u8]),
}

impl Mismatch<'_> {
    /// The refusal: -32020 with 400, naming `header`, the `source` in the body, and both values.
    pub(super) fn into_error(self, header: &str, source: &str, body: &str) -> Error {
        let shown = excerpt(body.as_bytes());
        let message = match self {
            Self::Missing => format!("{header} is missing: send {shown}, the value of {source}"),
            Self::Repeated => {
                format!("{header} is repeated: send it once with the value of {source}")
            }
            Self::Invalid(why, value) => {
                format!(
                    "{header} {} {why}: send {shown}, the value of {source}",
                    excerpt(value)
                )
            }
            Self::Unexpected(value) => {
                format!(
                    "{header} is {}, but the body has no {source}: leave the header out",
                    excerpt(value)
                )
            }
            Self::Differs(value) => {
                format!("{header} is {}, but {source} is {shown}", excerpt(value))
            }
        };
        Error::new(Code::HeaderMismatch, word::HEADER, message)
    }
}
