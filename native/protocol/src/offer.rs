//! What a request names: a definition, whether there is one or not.

use std::{fmt, sync::Arc};

use crate::method::Method;

/// Kinds of definitions that requests name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OfferKind {
    /// A tool, by its name.
    Tool,
    /// A resource, by its URI; or what no template matches either.
    Resource,
    /// A template, by its text.
    Template,
    /// A prompt, by its name.
    Prompt,
}

/// A definition as a request names it. The name may be one that nothing has: then it is the client's.
#[derive(Clone)]
pub struct Offer {
    /// What it would be.
    pub kind: OfferKind,
    /// What it would be known by.
    pub name: Arc<str>,
    /// What is read of a template.
    pub uri: Option<Arc<str>>,
}

/// What the host says of an offer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Permission {
    /// The caller may use it.
    Permitted,
    /// For this caller there is no such thing.
    Denied,
    /// It may, after a sign-in like this.
    StepUp(mcp_auth::StepUp),
}

impl OfferKind {
    /// The kind that a list method lists; templates, where it lists nothing else.
    pub(crate) fn of_list(method: Method) -> Self {
        match method {
            Method::ToolsList => Self::Tool,
            Method::ResourcesList => Self::Resource,
            Method::PromptsList => Self::Prompt,
            _ => Self::Template,
        }
    }

    /// The method that uses one.
    pub(crate) fn user(self) -> Method {
        match self {
            Self::Tool => Method::ToolsCall,
            Self::Resource | Self::Template => Method::ResourcesRead,
            Self::Prompt => Method::PromptsGet,
        }
    }
}

/// Shows the kind: the name may be a client's.
impl fmt::Debug for Offer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Offer({:?})", self.kind)
    }
}
