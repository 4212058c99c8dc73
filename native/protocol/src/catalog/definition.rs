//! What a host declares: one definition of any kind, what is wrong with it, and changes to a catalog.

use std::{any::Any, fmt, sync::Arc};

use super::{
    completion::{CompletionDefinition, CompletionKey},
    prompt::PromptDefinition,
    resource::ResourceDefinition,
    template::TemplateDefinition,
    tool::ToolDefinition,
};

/// One thing that a server offers.
#[derive(Clone)]
pub enum Definition {
    /// A tool, known by its name.
    Tool(ToolDefinition),
    /// A resource, known by its URI.
    Resource(ResourceDefinition),
    /// A family of resources, known by its URI template.
    Template(TemplateDefinition),
    /// A prompt, known by its name.
    Prompt(PromptDefinition),
    /// What completes an argument, known by what it completes.
    Completion(CompletionDefinition),
}

/// Which definition is meant.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Key {
    /// A tool's name.
    Tool(String),
    /// A resource's URI.
    Resource(String),
    /// A URI template.
    Template(String),
    /// A prompt's name.
    Prompt(String),
    /// What is completed.
    Completion(CompletionKey),
}

/// One change of a catalog.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Adds a definition at the end of its list, or puts it in the place of the one with its key.
    Put(Box<Definition>),
    /// Takes a definition out, if it is there.
    Delete(Key),
}

/// What clients keep a list of, and are told about when it changes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Category {
    /// Tools.
    Tools,
    /// Resources and resource templates.
    Resources,
    /// Prompts.
    Prompts,
    /// Completions, which no client lists.
    Completions,
}

/// How a host finds the function behind a definition; opaque here.
pub trait Handler: Any + Send + Sync {
    /// Whether `other` leads to the same function.
    fn is_same(&self, other: &dyn Handler) -> bool;
}

/// A host that finds its functions by what definitions are known by.
impl Handler for () {
    fn is_same(&self, other: &dyn Handler) -> bool {
        (other as &dyn Any).is::<()>()
    }
}

/// What is wrong with a definition, and where in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DefinitionFault {
    /// The definition's key: a name, a URI or a URI template.
    pub definition: String,
    /// The field, or field and JSON Pointer, such as `input_schema/properties/a`.
    pub place: String,
    /// One sentence: what is wrong and what would be right.
    pub message: String,
}

impl Definition {
    /// What it is known by.
    pub(crate) fn key(&self) -> Key {
        match self {
            Self::Tool(tool) => Key::Tool(tool.name.clone()),
            Self::Resource(resource) => Key::Resource(resource.uri.clone()),
            Self::Template(template) => Key::Template(template.uri_template.clone()),
            Self::Prompt(prompt) => Key::Prompt(prompt.name.clone()),
            Self::Completion(completion) => Key::Completion(completion.key.clone()),
        }
    }
}

impl From<ToolDefinition> for Definition {
    fn from(tool: ToolDefinition) -> Self {
        Self::Tool(tool)
    }
}

impl From<ResourceDefinition> for Definition {
    fn from(resource: ResourceDefinition) -> Self {
        Self::Resource(resource)
    }
}

impl From<TemplateDefinition> for Definition {
    fn from(template: TemplateDefinition) -> Self {
        Self::Template(template)
    }
}

impl From<PromptDefinition> for Definition {
    fn from(prompt: PromptDefinition) -> Self {
        Self::Prompt(prompt)
    }
}

impl From<CompletionDefinition> for Definition {
    fn from(completion: CompletionDefinition) -> Self {
        Self::Completion(completion)
    }
}

impl Edit {
    /// What it is about.
    pub(crate) fn key(&self) -> Key {
        match self {
            Self::Put(definition) => definition.key(),
            Self::Delete(key) => key.clone(),
        }
    }
}

impl Key {
    /// The category whose list changes with the definition.
    pub fn category(&self) -> Category {
        match self {
            Self::Tool(_) => Category::Tools,
            Self::Resource(_) | Self::Template(_) => Category::Resources,
            Self::Prompt(_) => Category::Prompts,
            Self::Completion(_) => Category::Completions,
        }
    }

    /// The fault of a second definition with this key.
    pub(super) fn declared_twice(&self) -> DefinitionFault {
        let place = match self {
            Self::Tool(_) | Self::Prompt(_) => "name",
            Self::Resource(_) => "uri",
            Self::Template(_) => "uri_template",
            Self::Completion(_) => "argument",
        };
        let message = format!("is declared twice; each {place} is unique in a catalog");
        fault(&self.to_string(), place, message)
    }
}

/// What a fault calls the definition.
impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(text) | Self::Resource(text) | Self::Template(text) | Self::Prompt(text) => {
                out.write_str(text)
            }
            Self::Completion(key) => out.write_str(key.reference.as_str()),
        }
    }
}

/// Shows what it is known by: schemas and texts are long.
impl fmt::Debug for Definition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Definition({:?})", self.key())
    }
}

pub(super) fn fault(definition: &str, place: &str, message: impl Into<String>) -> DefinitionFault {
    DefinitionFault {
        definition: definition.to_owned(),
        place: place.to_owned(),
        message: message.into(),
    }
}

/// Whether two definitions lead to the same function.
pub(super) fn same_handler(one: &Arc<dyn Handler>, other: &Arc<dyn Handler>) -> bool {
    one.is_same(&**other)
}

/// Checks a name that is free in its characters: for people and models, echoed in lists and messages.
pub(super) fn check_name(definition: &str, name: &str) -> Result<(), DefinitionFault> {
    const MAX_BYTES: usize = 1_024;
    if (1..=MAX_BYTES).contains(&name.len()) && !name.contains(char::is_control) {
        return Ok(());
    }
    let message = format!("must be 1 to {MAX_BYTES} bytes without control characters");
    Err(fault(definition, "name", message))
}
