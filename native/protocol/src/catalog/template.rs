//! Resource templates: families of resources under one URI template (MCP 2026-07-28 server/resources, RFC 6570).

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{
    access::Access,
    definition::{DefinitionFault, Handler, check_name, fault, same_handler},
    entry::ListEntry,
    section::{Defined, Listed},
};
use crate::cache::CacheChoice;

/// A resource template as the host declares it.
#[derive(Clone)]
pub struct TemplateDefinition {
    /// The URI template.
    pub uri_template: String,
    /// The name.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For models.
    pub description: Option<String>,
    /// The media type, where all resources of the family share it.
    pub mime_type: Option<String>,
    /// Audience, priority and last change.
    pub annotations: Option<Value>,
    /// Icons.
    pub icons: Option<Value>,
    /// `_meta`.
    pub meta: Option<Value>,
    /// How long contents may be kept.
    pub cache: CacheChoice,
    /// Which scopes it needs.
    pub access: Access,
    /// Whatever the host needs to find its function again.
    pub handler: Arc<dyn Handler>,
}

/// A template ready to be listed and matched.
pub struct Template {
    /// The URI template.
    pub uri_template: Arc<str>,
    /// The host's own data.
    pub handler: Arc<dyn Handler>,
    pub(crate) mime_type: Option<Arc<str>>,
    pub(crate) cache: CacheChoice,
    pub(crate) matcher: mcp_uri_template::Template,
    access: mcp_auth::Definition,
    entry: ListEntry,
}

impl Template {
    pub(super) fn compile(definition: TemplateDefinition) -> Result<Self, Vec<DefinitionFault>> {
        let text = definition.uri_template.as_str();
        let parsed = mcp_uri_template::Template::parse(text)
            .map_err(|error| fault(text, "uri_template", error.to_string()));
        let named = check_name(text, &definition.name);
        let access = definition.access.compile(text);
        match (parsed, named, access) {
            (Ok(matcher), Ok(()), Ok(access)) => Ok(Self {
                uri_template: text.into(),
                handler: Arc::clone(&definition.handler),
                mime_type: definition.mime_type.as_deref().map(Arc::from),
                cache: definition.cache,
                matcher,
                access,
                entry: entry(definition),
            }),
            (parsed, named, access) => {
                let faults = [parsed.err(), named.err(), access.err()];
                Err(faults.into_iter().flatten().collect())
            }
        }
    }
}

impl Template {
    /// Whether the template has a variable of this name.
    pub(crate) fn takes(&self, variable: &str) -> bool {
        self.matcher
            .variables()
            .iter()
            .any(|one| **one == *variable)
    }
}

impl Defined for Template {
    type Key = Arc<str>;

    fn key(&self) -> &Arc<str> {
        &self.uri_template
    }

    fn is_same(&self, other: &Self) -> bool {
        self.entry.digest() == other.entry.digest()
            && self.access == other.access
            && self.cache == other.cache
            && same_handler(&self.handler, &other.handler)
    }
}

impl Listed for Template {
    fn entry(&self) -> &ListEntry {
        &self.entry
    }

    fn access(&self) -> &mcp_auth::Definition {
        &self.access
    }

    fn name(&self) -> &str {
        &self.uri_template
    }
}

/// Shows the template: the rest is long.
impl fmt::Debug for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Template({})", self.uri_template)
    }
}

fn entry(definition: TemplateDefinition) -> ListEntry {
    ListEntry::new(
        [
            ("uriTemplate", Some(definition.uri_template.into())),
            ("name", Some(definition.name.into())),
            ("title", definition.title.map(Value::from)),
            ("description", definition.description.map(Value::from)),
            ("mimeType", definition.mime_type.map(Value::from)),
            ("annotations", definition.annotations),
            ("icons", definition.icons),
            ("_meta", definition.meta),
        ],
        &[],
    )
}
