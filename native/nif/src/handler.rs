//! What a definition carries for its host: how the function behind it is found, and the keys of its arguments.

use std::{any::Any, sync::Arc};

use mcp_protocol::Handler;
use rustler::{Atom, Encoder, Env, Term};

use crate::{atoms, decode::binary, released::Released};

/// Names of arguments and their atoms.
pub(crate) type ArgumentKeys = Box<[(Box<str>, Atom)]>;

/// The host's part of a definition.
#[derive(Eq, PartialEq)]
pub(crate) struct HostHandler {
    pub(crate) function: Function,
    /// Declared top-level arguments and their atoms, sorted by name.
    pub(crate) argument_keys: ArgumentKeys,
    /// Whether its process waits for a client's answers where it can.
    pub(crate) parks: bool,
}

/// What the host finds its function by, given back as it came.
#[derive(Eq, PartialEq)]
pub(crate) enum Function {
    Atom(Atom),
    Binary(Box<[u8]>),
    Row(Row),
}

/// A row of the host's table of functions. Dropping it says that nothing leads there any more: neither a snapshot nor
/// a call that started with one (D6).
pub(crate) struct Row {
    pub(crate) number: u64,
    pub(crate) released: Arc<Released>,
}

impl HostHandler {
    /// The host's part of a definition that this crate made.
    pub(crate) fn of(handler: &dyn Handler) -> &Self {
        (handler as &dyn Any)
            .downcast_ref()
            .expect("every definition is compiled by this crate")
    }

    /// A top-level argument's key: an atom when it is declared, else a binary (D6).
    pub(crate) fn argument_key<'a>(&self, env: Env<'a>, name: &str) -> Term<'a> {
        match self
            .argument_keys
            .binary_search_by(|(key, _)| (**key).cmp(name))
        {
            Ok(position) => self.argument_keys[position].1.to_term(env),
            Err(_) => name.encode(env),
        }
    }
}

impl Handler for HostHandler {
    fn is_same(&self, other: &dyn Handler) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

/// The function, as `{:park, function}` when it parks.
impl Encoder for HostHandler {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self.parks {
            true => (atoms::park(), &self.function).encode(env),
            false => self.function.encode(env),
        }
    }
}

impl Encoder for Function {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Atom(atom) => atom.to_term(env),
            Self::Binary(bytes) => binary(env, bytes),
            Self::Row(row) => row.number.encode(env),
        }
    }
}

impl Eq for Row {}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        self.released.push(self.number);
    }
}
