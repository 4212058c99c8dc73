//! The parameters of a request, read with refusals that name the method and the member.

use std::borrow::Cow;

use mcp_json::{Kind, Node};

use crate::{
    error::{Code, Error},
    method::Method,
    word,
};

/// `params` of one request.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a> {
    method: Method,
    node: Option<Node<'a>>,
}

impl<'a> Params<'a> {
    pub(crate) fn new(method: Method, node: Option<Node<'a>>) -> Self {
        Self { method, node }
    }

    /// A member, whatever it is.
    pub(crate) fn get(self, member: &str) -> Option<Node<'a>> {
        self.node?.get(member)
    }

    /// A string that must be there.
    pub(crate) fn string(self, member: &str) -> Result<Cow<'a, str>, Error> {
        self.get(member).and_then(Node::as_str).ok_or_else(|| {
            let method = self.method.as_str();
            invalid(format!("{method} needs the string \"params.{member}\""))
        })
    }

    /// An object that may be there.
    pub(crate) fn object(self, member: &str) -> Result<Option<Node<'a>>, Error> {
        object(self.get(member), &format_args!("params.{member}"))
    }
}

/// `node`, which must be an object if it is there.
pub(crate) fn object<'a>(
    node: Option<Node<'a>>,
    place: &impl std::fmt::Display,
) -> Result<Option<Node<'a>>, Error> {
    match node {
        Some(node) if node.kind() != Kind::Object => {
            Err(invalid(format!("The member \"{place}\" must be an object")))
        }
        node => Ok(node),
    }
}

/// Malformed parameters, or ones that name what does not exist (ERR-10).
pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(Code::InvalidParams, word::PARAMS, message)
}
