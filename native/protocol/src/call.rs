//! One request on its way to a handler.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use mcp_json::{Document, Limits, NodeId};

use crate::{
    catalog::{Completion, Handler, Place, Prompt, Reference, Resource, Template, Tool, Variables},
    config::Config,
    context::RequestContext,
    inquiry::Inquiry,
    meta::RequestMeta,
    notice::Notifier,
    question::Scope,
    request_id::IdKey,
};

/// A checked request for a handler.
pub struct Call {
    /// What is called, of the snapshot that the request started with.
    pub target: Target,
    /// Where the arguments lie in the context's message; `None` stands for `{}`. Of a completion they are the ones that
    /// are settled already.
    pub arguments: Option<NodeId>,
    /// What the handler may know.
    pub context: RequestContext,
    /// What its messages to the client are; whoever keeps account of the call takes it.
    pub notifier: Option<Notifier>,
    /// What it asks its client for; whoever keeps account of the call takes it. `None` for a completion, which asks
    /// nothing (MRTR-2).
    pub inquiry: Option<Box<Inquiry>>,
    /// Whether it may become a task: its tool says so, and so does its client.
    pub takes_task: bool,
    /// How a cancellation finds the call; `None` where the connection alone can cancel.
    pub cancel_key: Option<(Scope, IdKey)>,
    /// The call's place among those of its tool that may run at once. Whoever runs the call keeps it, and `target`,
    /// until the call has ended, whatever its end is, and gives it back before the answer goes out.
    pub place: Option<Place>,
}

impl Call {
    /// Lets go of the message, once all that is wanted of it was read.
    pub fn let_go_of_message(&mut self) {
        let nothing = Document::parse(Bytes::from_static(b"{}"), &Limits::default());
        self.context.message = Arc::new(nothing.expect("an empty object is JSON"));
        self.context.meta = RequestMeta::default();
        self.arguments = None;
    }
}

/// What a call is for.
#[derive(Clone)]
pub enum Target {
    /// A tool's result.
    Tool(Arc<Tool>),
    /// The contents of a resource.
    Resource(Arc<Reading>),
    /// A prompt, filled in.
    Prompt(Arc<Prompt>),
    /// Values for an argument.
    Completion(Arc<Completing>),
}

/// A resource to be read.
pub struct Reading {
    /// The URI as it was asked for.
    pub uri: Arc<str>,
    /// Which definition it belongs to.
    pub source: Source,
    /// The values that the URI gives to a template's variables.
    pub variables: Variables,
}

/// Where a resource comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// It is listed itself.
    Resource(Arc<Resource>),
    /// It is one of a family.
    Template(Arc<Template>),
}

/// An argument to be completed.
pub struct Completing {
    /// What completes it; `None` for the host's own function for all of them.
    pub completion: Option<Arc<Completion>>,
    /// Whose argument it is, as the client named it.
    pub reference: Reference,
    /// The argument's name.
    pub argument: Box<str>,
    /// What was typed so far.
    pub value: Box<str>,
}

impl Reading {
    /// The host's part of the definition.
    pub fn handler(&self) -> &dyn Handler {
        match &self.source {
            Source::Resource(resource) => &*resource.handler,
            Source::Template(template) => &*template.handler,
        }
    }
}

impl Target {
    /// What the definition is known by: a name, a URI or a URI template.
    pub fn name(&self) -> &Arc<str> {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Resource(reading) => match &reading.source {
                Source::Resource(resource) => &resource.uri,
                Source::Template(template) => &template.uri_template,
            },
            Self::Prompt(prompt) => &prompt.name,
            Self::Completion(completing) => match &completing.reference {
                Reference::Prompt(name) | Reference::Resource(name) => name,
            },
        }
    }

    /// How long a call may run.
    pub(crate) fn timeout_ms(&self, config: &Config) -> u64 {
        self.own_timeout_ms().unwrap_or(config.call_timeout_ms)
    }

    /// How long a call may run by the definition's own word.
    pub(crate) fn own_timeout_ms(&self) -> Option<u64> {
        match self {
            Self::Tool(tool) => tool.limits.timeout_ms,
            _ => None,
        }
    }
}

/// Shows what is called, for whom it is not.
impl fmt::Debug for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Call")
            .field("target", &self.target)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// Shows the definition: what was asked of it is the client's.
impl fmt::Debug for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(tool) => tool.fmt(out),
            Self::Resource(reading) => reading.source.fmt(out),
            Self::Prompt(prompt) => prompt.fmt(out),
            Self::Completion(completing) => completing.completion.fmt(out),
        }
    }
}
