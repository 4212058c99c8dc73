//! The definitions a server offers, as one immutable snapshot: compiled, indexed, and serialised ahead.
//!
//! A change makes a new snapshot that shares all it can with the one before; requests keep the one that they started
//! with (D6).

mod access;
mod completion;
mod definition;
mod entry;
mod extensions;
mod limits;
mod prompt;
mod resource;
mod section;
mod selection;
mod template;
mod templates;
mod tool;
mod uri;

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use sha2::{Digest, Sha256};

pub use access::Access;
pub use completion::{Completion, CompletionDefinition, CompletionKey, Reference};
pub use definition::{Category, Definition, DefinitionFault, Edit, Handler, Key};
pub use limits::{Place, ToolLimits};
pub use prompt::{Prompt, PromptArgument, PromptDefinition};
pub use resource::{Resource, ResourceDefinition};
pub use template::{Template, TemplateDefinition};
pub use templates::Variables;
pub use tool::{Tool, ToolDefinition};

pub(crate) use limits::Full;
pub(crate) use section::{Listed, Section};
pub(crate) use selection::{Selection, Sieve};
pub(crate) use uri::{MAX_BYTES as MAX_URI_BYTES, check as check_uri};

use crate::{change::Listing, config::Config};
use extensions::{Extensions, missing_page};
use section::Put;
use templates::Templates;

/// The snapshot.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: Section<Tool>,
    resources: Section<Resource>,
    templates: Templates,
    prompts: Section<Prompt>,
    completions: Section<Completion>,
    extensions: Extensions,
    digest: OnceLock<[u8; 32]>,
}

/// What a change of a catalog came to.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The new snapshot.
    pub catalog: Catalog,
    /// Where it differs from the one before, in what is served or in what runs; empty when it does not.
    pub changed: BTreeSet<Category>,
    /// The lists in which clients see something else.
    pub listed: BTreeSet<Listing>,
}

impl Catalog {
    /// Compiles definitions in order.
    ///
    /// # Errors
    /// Every fault of every definition, duplicates among them, so that a host mends them in one go.
    pub fn compile(
        definitions: impl IntoIterator<Item = impl Into<Definition>>,
        config: &Config,
    ) -> Result<Self, Vec<DefinitionFault>> {
        let mut catalog = Self::default();
        let mut faults = Vec::new();
        for definition in definitions {
            let definition = definition.into();
            let key = definition.key();
            match catalog.put(definition, config) {
                Ok(Put::Added(_)) => {}
                Ok(Put::Replaced(_) | Put::Same) => faults.push(key.declared_twice()),
                Err(more) => faults.extend(more),
            }
        }
        if catalog.has_apps() {
            let tools = catalog.tools.iter();
            faults.extend(tools.filter_map(|tool| missing_page(tool, &catalog)));
        }
        if faults.is_empty() {
            Ok(catalog)
        } else {
            Err(faults)
        }
    }

    /// The snapshot with some definitions put or deleted, in order. Compiles what is put alone, and costs time in
    /// proportion to the edits and to the logarithm of the catalog.
    ///
    /// # Errors
    /// Every fault of every definition that is put; then nothing is changed.
    pub fn edit(&self, edits: Vec<Edit>, config: &Config) -> Result<Edited, Vec<DefinitionFault>> {
        let mut catalog = self.clone();
        let (mut changed, mut listed) = (BTreeSet::new(), BTreeSet::new());
        let (mut faults, mut tools) = (Vec::new(), Vec::new());
        for edit in edits {
            let key = edit.key();
            if let Edit::Put(definition) = &edit
                && let Definition::Tool(tool) = &**definition
            {
                tools.push(tool.name.clone());
            }
            let (category, before) = (key.category(), catalog.seen(&key));
            let differs = match edit {
                Edit::Put(definition) => match catalog.put(*definition, config) {
                    Ok(put) => put != Put::Same,
                    Err(more) => {
                        faults.extend(more);
                        continue;
                    }
                },
                Edit::Delete(key) => catalog.delete(&key),
            };
            if differs {
                changed.insert(category);
            }
            if catalog.seen(&key) != before {
                listed.extend(Listing::of(category));
            }
        }
        let put = tools.iter().filter_map(|name| catalog.tool(name));
        faults.extend(put.filter_map(|tool| missing_page(tool, &catalog)));
        if !faults.is_empty() {
            return Err(faults);
        }
        catalog.digest = OnceLock::new();
        Ok(Edited {
            catalog,
            changed,
            listed,
        })
    }

    /// The tools.
    pub(crate) fn tools(&self) -> &Section<Tool> {
        &self.tools
    }

    /// The resources.
    pub(crate) fn resources(&self) -> &Section<Resource> {
        &self.resources
    }

    /// The resource templates.
    pub(crate) fn templates(&self) -> &Section<Template> {
        self.templates.section()
    }

    /// The prompts.
    pub(crate) fn prompts(&self) -> &Section<Prompt> {
        &self.prompts
    }

    /// How many tools there are.
    pub fn tool_count(&self) -> usize {
        self.tools.len()
    }

    /// How many resources there are.
    pub fn resource_count(&self) -> usize {
        self.resources.len()
    }

    /// How many resource templates there are.
    pub fn template_count(&self) -> usize {
        self.templates().len()
    }

    /// How many prompts there are.
    pub fn prompt_count(&self) -> usize {
        self.prompts.len()
    }

    /// How many completions there are.
    pub fn completion_count(&self) -> usize {
        self.completions.len()
    }

    /// The tool with this wire name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// The resource with this URI, compared byte by byte.
    pub fn resource(&self, uri: &str) -> Option<&Arc<Resource>> {
        self.resources.get(uri)
    }

    /// The template that matches a URI, with the values of its variables: the first registered of those that do.
    pub fn matching_template(&self, uri: &str) -> Option<(&Arc<Template>, Variables)> {
        self.templates.find(uri)
    }

    /// The template with this text.
    pub fn template(&self, uri_template: &str) -> Option<&Arc<Template>> {
        self.templates().get(uri_template)
    }

    /// The prompt with this name.
    pub fn prompt(&self, name: &str) -> Option<&Arc<Prompt>> {
        self.prompts.get(name)
    }

    /// The completion for an argument: its own, or else the one for all arguments of `reference`.
    pub fn completion(&self, reference: &Reference, argument: &str) -> Option<&Arc<Completion>> {
        let key = |argument| CompletionKey {
            reference: reference.clone(),
            argument,
        };
        self.completions
            .get(&key(Some(argument.into())))
            .or_else(|| self.completions.get(&key(None)))
    }

    /// SHA-256 over the digests of all list entries in order, tools before resources, templates and prompts: equal for
    /// equal catalogs on any node. Computed at most once.
    pub fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| {
            let mut hash = Sha256::new();
            self.tools.hash_into(&mut hash);
            self.resources.hash_into(&mut hash);
            self.templates().hash_into(&mut hash);
            self.prompts.hash_into(&mut hash);
            hash.finalize().into()
        })
    }

    /// The lists that another catalog serves differently. Takes time in proportion to the definitions the first time.
    pub fn differences(&self, other: &Self) -> Vec<Listing> {
        let differs = |list: &Listing| match list {
            Listing::Tools => self.tools.differs(&other.tools),
            Listing::Resources => {
                self.resources.differs(&other.resources)
                    || self.templates().differs(other.templates())
            }
            Listing::Prompts => self.prompts.differs(&other.prompts),
        };
        Listing::ALL.into_iter().filter(differs).collect()
    }

    /// Digests every list, which takes time in proportion to the definitions the first time.
    pub(crate) fn digest_lists(&self) {
        self.tools.digest();
        self.resources.digest();
        self.templates().digest();
        self.prompts.digest();
    }

    /// Names and digests of the tools' list entries.
    pub fn tool_digests(&self) -> impl Iterator<Item = (&str, &[u8; 32])> {
        self.tools.digests()
    }

    /// URIs and digests of the resources' list entries.
    pub fn resource_digests(&self) -> impl Iterator<Item = (&str, &[u8; 32])> {
        self.resources.digests()
    }

    /// URI templates and digests of the templates' list entries.
    pub fn template_digests(&self) -> impl Iterator<Item = (&str, &[u8; 32])> {
        self.templates().digests()
    }

    /// Names and digests of the prompts' list entries.
    pub fn prompt_digests(&self) -> impl Iterator<Item = (&str, &[u8; 32])> {
        self.prompts.digests()
    }

    /// Whether any argument can be completed by a definition.
    pub(crate) fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }

    /// Whether calls of any tool may become tasks.
    pub(crate) fn has_tasks(&self) -> bool {
        self.extensions.tasks > 0
    }

    /// Whether any tool is shown as an app.
    pub(crate) fn has_apps(&self) -> bool {
        self.extensions.apps > 0
    }

    /// What clients see of a definition, and which do.
    fn seen(&self, key: &Key) -> Option<([u8; 32], mcp_auth::Definition)> {
        fn of<D: Listed>(definition: Option<&Arc<D>>) -> Option<([u8; 32], mcp_auth::Definition)> {
            let definition = definition?;
            Some((*definition.entry().digest(), definition.access().clone()))
        }
        match key {
            Key::Tool(name) => of(self.tool(name)),
            Key::Resource(uri) => of(self.resource(uri)),
            Key::Template(uri_template) => of(self.template(uri_template)),
            Key::Prompt(name) => of(self.prompt(name)),
            Key::Completion(_) => None,
        }
    }

    fn put(
        &mut self,
        definition: Definition,
        config: &Config,
    ) -> Result<Put, Vec<DefinitionFault>> {
        Ok(match definition {
            Definition::Tool(tool) => {
                let before = self.tool(&tool.name).cloned();
                let (put, kept) = self.tools.put(Tool::compile(tool, config)?);
                self.extensions.replace(before.as_deref(), Some(&kept));
                put
            }
            Definition::Resource(resource) => self.resources.put(Resource::compile(resource)?).0,
            Definition::Template(template) => self.templates.put(Template::compile(template)?),
            Definition::Prompt(prompt) => self.prompts.put(Prompt::compile(prompt)?).0,
            Definition::Completion(completion) => {
                self.completions.put(Completion::compile(completion)?).0
            }
        })
    }

    fn delete(&mut self, key: &Key) -> bool {
        match key {
            Key::Tool(name) => match self.tools.remove(name.as_str()) {
                Some((_, tool)) => {
                    self.extensions.replace(Some(&tool), None);
                    true
                }
                None => false,
            },
            Key::Resource(uri) => self.resources.remove(uri.as_str()).is_some(),
            Key::Template(uri_template) => self.templates.remove(uri_template),
            Key::Prompt(name) => self.prompts.remove(name.as_str()).is_some(),
            Key::Completion(key) => self.completions.remove(key).is_some(),
        }
    }
}
