//! Resources (MCP 2026-07-28 server/resources).

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{
    access::Access,
    definition::{DefinitionFault, Handler, check_name, fault, same_handler},
    entry::ListEntry,
    extensions::check_page,
    section::{Defined, Listed},
    uri,
};
use crate::cache::CacheChoice;

/// A resource as the host declares it.
#[derive(Clone)]
pub struct ResourceDefinition {
    /// The absolute URI (RFC 3986), compared byte by byte.
    pub uri: String,
    /// The name.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For models.
    pub description: Option<String>,
    /// The media type of its contents.
    pub mime_type: Option<String>,
    /// The size of its contents in bytes.
    pub size: Option<u64>,
    /// Audience, priority and last change.
    pub annotations: Option<Value>,
    /// Icons.
    pub icons: Option<Value>,
    /// `_meta`.
    pub meta: Option<Value>,
    /// How long its contents may be kept.
    pub cache: CacheChoice,
    /// Which scopes it needs.
    pub access: Access,
    /// Whatever the host needs to find its function again.
    pub handler: Arc<dyn Handler>,
}

/// A resource ready to be listed and read.
pub struct Resource {
    /// The URI.
    pub uri: Arc<str>,
    /// The host's own data.
    pub handler: Arc<dyn Handler>,
    pub(crate) mime_type: Option<Arc<str>>,
    pub(crate) cache: CacheChoice,
    access: mcp_auth::Definition,
    entry: ListEntry,
}

impl Resource {
    pub(super) fn compile(definition: ResourceDefinition) -> Result<Self, Vec<DefinitionFault>> {
        let uri = definition.uri.as_str();
        let wrong_uri = uri::check(uri).map_err(|message| fault(uri, "uri", message));
        let wrong = [
            wrong_uri,
            check_name(uri, &definition.name),
            check_page(uri, definition.mime_type.as_deref()),
        ];
        let mut faults: Vec<_> = wrong.into_iter().filter_map(Result::err).collect();
        let access = match definition.access.compile(uri) {
            Ok(access) if faults.is_empty() => access,
            access => {
                faults.extend(access.err());
                return Err(faults);
            }
        };
        Ok(Self {
            uri: uri.into(),
            handler: Arc::clone(&definition.handler),
            mime_type: definition.mime_type.as_deref().map(Arc::from),
            cache: definition.cache,
            access,
            entry: entry(definition),
        })
    }
}

impl Defined for Resource {
    type Key = Arc<str>;

    fn key(&self) -> &Arc<str> {
        &self.uri
    }

    fn is_same(&self, other: &Self) -> bool {
        self.entry.digest() == other.entry.digest()
            && self.access == other.access
            && self.cache == other.cache
            && same_handler(&self.handler, &other.handler)
    }
}

impl Listed for Resource {
    fn entry(&self) -> &ListEntry {
        &self.entry
    }

    fn access(&self) -> &mcp_auth::Definition {
        &self.access
    }

    fn name(&self) -> &str {
        &self.uri
    }
}

/// Shows the URI: the rest is long.
impl fmt::Debug for Resource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Resource({})", self.uri)
    }
}

fn entry(definition: ResourceDefinition) -> ListEntry {
    ListEntry::new(
        [
            ("uri", Some(definition.uri.into())),
            ("name", Some(definition.name.into())),
            ("title", definition.title.map(Value::from)),
            ("description", definition.description.map(Value::from)),
            ("mimeType", definition.mime_type.map(Value::from)),
            ("size", definition.size.map(Value::from)),
            ("annotations", definition.annotations),
            ("icons", definition.icons),
            ("_meta", definition.meta),
        ],
        &[],
    )
}
