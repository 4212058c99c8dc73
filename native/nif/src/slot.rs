//! What a term stands for where the protocol expects more than any JSON value.

use rustler::{Atom, Term};

use crate::atoms;

/// The place of a term in a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Slot {
    /// Any value.
    Value,
    /// A list of content blocks.
    Blocks,
    /// One content block, or a list of them where a message may have several.
    Block,
    /// A list of a prompt's messages.
    Messages,
    /// One message.
    Message,
    /// A request to a client.
    InputRequest,
    /// Its parameters.
    InputParams,
    /// An embedded resource.
    Resource,
    /// Bytes: `{:bytes, binary}`, or Base64 already.
    Data,
}

impl Slot {
    /// The place of a list's items.
    pub(crate) fn item(self) -> Self {
        match self {
            Self::Blocks | Self::Block => Self::Block,
            Self::Messages => Self::Message,
            _ => Self::Value,
        }
    }

    /// The place of a map's member.
    pub(crate) fn member(self, key: Term<'_>) -> Self {
        let is = |atom: Atom, name: &str| {
            atom == key || key.decode::<&str>().is_ok_and(|text| text == name)
        };
        match self {
            Self::Block if is(atoms::data(), "data") => Self::Data,
            Self::Block if is(atoms::resource(), "resource") => Self::Resource,
            Self::Resource if is(atoms::blob(), "blob") => Self::Data,
            Self::InputRequest if is(atoms::params(), "params") => Self::InputParams,
            Self::InputParams if is(atoms::messages(), "messages") => Self::Messages,
            Self::Message if is(atoms::content(), "content") => Self::Block,
            _ => Self::Value,
        }
    }
}
