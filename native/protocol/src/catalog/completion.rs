//! What completes the arguments of prompts and templates (MCP 2026-07-28 server/utilities/completion).

use std::{fmt, sync::Arc};

use super::{
    definition::{DefinitionFault, Handler, fault, same_handler},
    section::Defined,
};

/// A completion as the host declares it.
#[derive(Clone)]
pub struct CompletionDefinition {
    /// What it completes.
    pub key: CompletionKey,
    /// Whatever the host needs to find its function again.
    pub handler: Arc<dyn Handler>,
}

/// What a completion completes; the most specific one of a catalog is asked.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct CompletionKey {
    /// The prompt or template.
    pub reference: Reference,
    /// The argument; `None` for all that have no completion of their own.
    pub argument: Option<Arc<str>>,
}

/// Whose argument is completed.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Reference {
    /// A prompt's, by its name.
    Prompt(Arc<str>),
    /// A template's, by its text; or by a URI that it matches, as a client may put it.
    Resource(Arc<str>),
}

/// A completion ready to be asked.
pub struct Completion {
    /// What it completes.
    pub key: CompletionKey,
    /// The host's own data.
    pub handler: Arc<dyn Handler>,
}

impl Reference {
    /// The name, template or URI.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Prompt(text) | Self::Resource(text) => text,
        }
    }
}

impl Completion {
    pub(super) fn compile(definition: CompletionDefinition) -> Result<Self, Vec<DefinitionFault>> {
        let key = definition.key;
        let argument = key.argument.as_deref();
        if key.reference.as_str().is_empty() || argument == Some("") {
            let message = "must name a prompt or template, and an argument or none for all";
            return Err(vec![fault(key.reference.as_str(), "ref", message)]);
        }
        Ok(Self {
            key,
            handler: definition.handler,
        })
    }
}

impl Defined for Completion {
    type Key = CompletionKey;

    fn key(&self) -> &CompletionKey {
        &self.key
    }

    fn is_same(&self, other: &Self) -> bool {
        same_handler(&self.handler, &other.handler)
    }
}

/// Shows what it completes.
impl fmt::Debug for Completion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Completion({:?})", self.key)
    }
}
