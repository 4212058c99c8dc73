//! The one shape of a refusal: `{:error, {kind, detail}}`.

use rustler::{Atom, Encoder, Env, Term, types::atom};

/// What was wrong with what the BEAM handed over.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fault {
    /// From the fixed list in [`crate::atoms`].
    pub(crate) kind: Atom,
    /// One sentence for people: the place, what stood there, what would be right.
    pub(crate) detail: String,
}

impl Fault {
    pub(crate) fn new(kind: Atom, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

impl Encoder for Fault {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        (atom::error(), (self.kind, &self.detail)).encode(env)
    }
}
