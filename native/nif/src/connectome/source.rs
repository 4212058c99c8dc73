//! What functions take in place of a graph: its terms, or its index.

use mcp_connectome::Form;
use rustler::{ResourceArc, Term};

use super::{given::Given, index::GraphIndex, refusal::Refused};

/// A graph in its canonical form, wherever it came from.
pub(super) enum Source {
    Index(ResourceArc<GraphIndex>),
    Given(Box<Form>),
}

impl Source {
    /// Reads a `%Graph{}` or the resource of an index.
    pub(super) fn read(source: Term<'_>) -> Result<Self, Refused<'_>> {
        if let Ok(index) = source.decode() {
            return Ok(Self::Index(index));
        }
        let (_, form) = Given::read(source)?.form()?;
        Ok(Self::Given(Box::new(form)))
    }

    pub(super) fn form(&self) -> &Form {
        match self {
            Self::Index(index) => index.form(),
            Self::Given(form) => form,
        }
    }

    pub(super) fn into_form(self) -> Form {
        match self {
            Self::Index(index) => index.form().clone(),
            Self::Given(form) => *form,
        }
    }
}
