//! Prompts (MCP 2026-07-28 server/prompts).

use std::{collections::HashSet, fmt, sync::Arc};

use serde_json::{Map, Value};

use super::{
    access::Access,
    definition::{DefinitionFault, Handler, check_name, fault, same_handler},
    entry::ListEntry,
    section::{Defined, Listed},
};

/// A prompt as the host declares it.
#[derive(Clone)]
pub struct PromptDefinition {
    /// The name.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For models.
    pub description: Option<String>,
    /// What may be filled in.
    pub arguments: Vec<PromptArgument>,
    /// Icons.
    pub icons: Option<Value>,
    /// `_meta`.
    pub meta: Option<Value>,
    /// Which scopes it needs.
    pub access: Access,
    /// Whatever the host needs to find its function again.
    pub handler: Arc<dyn Handler>,
}

/// One argument of a prompt; its values are strings.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PromptArgument {
    /// The name, unique in its prompt.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For models.
    pub description: Option<String>,
    /// Whether the prompt cannot be had without it; absence means no.
    pub required: Option<bool>,
}

/// A prompt ready to be listed and filled in.
pub struct Prompt {
    /// The name.
    pub name: Arc<str>,
    /// The host's own data.
    pub handler: Arc<dyn Handler>,
    pub(crate) arguments: Vec<PromptArgument>,
    access: mcp_auth::Definition,
    entry: ListEntry,
}

impl Prompt {
    pub(super) fn compile(definition: PromptDefinition) -> Result<Self, Vec<DefinitionFault>> {
        let name = definition.name.as_str();
        let mut faults: Vec<_> = check_name(name, name).err().into_iter().collect();
        faults.extend(argument_faults(name, &definition.arguments));
        let access = match definition.access.compile(name) {
            Ok(access) if faults.is_empty() => access,
            access => {
                faults.extend(access.err());
                return Err(faults);
            }
        };
        Ok(Self {
            name: name.into(),
            handler: Arc::clone(&definition.handler),
            arguments: definition.arguments.clone(),
            access,
            entry: entry(definition),
        })
    }

    /// Whether the prompt has an argument of this name.
    pub(crate) fn takes(&self, argument: &str) -> bool {
        self.arguments.iter().any(|one| one.name == argument)
    }
}

impl Defined for Prompt {
    type Key = Arc<str>;

    fn key(&self) -> &Arc<str> {
        &self.name
    }

    fn is_same(&self, other: &Self) -> bool {
        self.entry.digest() == other.entry.digest()
            && self.access == other.access
            && same_handler(&self.handler, &other.handler)
    }
}

impl Listed for Prompt {
    fn entry(&self) -> &ListEntry {
        &self.entry
    }

    fn access(&self) -> &mcp_auth::Definition {
        &self.access
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Shows the name: the rest is long.
impl fmt::Debug for Prompt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Prompt({})", self.name)
    }
}

fn argument_faults<'a>(
    prompt: &'a str,
    arguments: &'a [PromptArgument],
) -> impl Iterator<Item = DefinitionFault> + 'a {
    let mut seen = HashSet::new();
    arguments
        .iter()
        .enumerate()
        .filter_map(move |(position, argument)| {
            let place = format!("arguments/{position}/name");
            let name = argument.name.as_str();
            if !seen.insert(name) {
                let message = "is taken by another argument; names are unique in a prompt";
                return Some(fault(prompt, &place, message));
            }
            let wrong = check_name(prompt, name).err()?;
            Some(fault(prompt, &place, wrong.message))
        })
}

fn entry(definition: PromptDefinition) -> ListEntry {
    let arguments: Vec<Value> = definition.arguments.into_iter().map(argument).collect();
    ListEntry::new(
        [
            ("name", Some(definition.name.into())),
            ("title", definition.title.map(Value::from)),
            ("description", definition.description.map(Value::from)),
            (
                "arguments",
                (!arguments.is_empty()).then_some(arguments.into()),
            ),
            ("icons", definition.icons),
            ("_meta", definition.meta),
        ],
        &[],
    )
}

fn argument(argument: PromptArgument) -> Value {
    let members = [
        ("name", Some(Value::from(argument.name))),
        ("title", argument.title.map(Value::from)),
        ("description", argument.description.map(Value::from)),
        ("required", argument.required.map(Value::from)),
    ];
    let members = members
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(members.collect::<Map<_, _>>())
}
