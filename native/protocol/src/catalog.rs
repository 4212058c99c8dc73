//! The definitions a server offers, as one immutable snapshot: compiled, indexed, and serialised ahead.

use std::{
    any::Any,
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use mcp_schema::{HeaderBinding, Role, Schema, header_bindings};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::{config::Config, revision::Revision};

/// A tool as the host declares it.
#[derive(Clone)]
pub struct ToolDefinition {
    /// The wire name: 1 to 128 of `A-Z a-z 0-9 _ - .` (MCP 2026-07-28 server/tools, "Tool Names").
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For models.
    pub description: Option<String>,
    /// JSON Schema of the arguments; `None` for a tool without arguments.
    pub input_schema: Option<Value>,
    /// JSON Schema of the structured result.
    pub output_schema: Option<Value>,
    /// Hints (`readOnlyHint` and the like).
    pub annotations: Option<Value>,
    /// Icons.
    pub icons: Option<Value>,
    /// `_meta`.
    pub meta: Option<Value>,
    /// Whatever the host needs to find its handler again; opaque here.
    pub host: Arc<dyn Any + Send + Sync>,
}

/// What is wrong with a definition, and where in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DefinitionFault {
    /// The definition's name.
    pub definition: String,
    /// The field, or field and JSON Pointer, such as `input_schema/properties/a`.
    pub place: String,
    /// One sentence: what is wrong and what would be right.
    pub message: String,
}

/// A tool ready to be listed and called.
pub struct Tool {
    /// The wire name.
    pub name: Arc<str>,
    /// The host's own data.
    pub host: Arc<dyn Any + Send + Sync>,
    pub(crate) input: Option<Arc<Schema>>,
    pub(crate) output: Option<Arc<Schema>>,
    pub(crate) headers: Vec<HeaderBinding>,
    /// The list entry as JSON text, one for each revision by [`Revision::index`].
    entries: [Arc<str>; 3],
    digest: [u8; 32],
}

/// The snapshot.
#[derive(Debug, Default)]
pub struct Catalog {
    tools: Vec<Arc<Tool>>,
    by_name: HashMap<Arc<str>, usize>,
    digest: OnceLock<[u8; 32]>,
}

impl Catalog {
    /// Compiles definitions in order.
    ///
    /// # Errors
    /// Every fault of every definition, duplicates among them, so that a host mends them in one go.
    pub fn compile(
        definitions: Vec<ToolDefinition>,
        config: &Config,
    ) -> Result<Self, Vec<DefinitionFault>> {
        let mut catalog = Self::default();
        let mut faults = Vec::new();
        for definition in definitions {
            let tool = match Tool::compile(definition, config) {
                Ok(tool) => Arc::new(tool),
                Err(more) => {
                    faults.extend(more);
                    continue;
                }
            };
            let position = catalog.tools.len();
            if catalog
                .by_name
                .insert(Arc::clone(&tool.name), position)
                .is_some()
            {
                faults.push(fault(
                    &tool.name,
                    "name",
                    "is declared twice; names are unique in a catalog",
                ));
            }
            catalog.tools.push(tool);
        }
        if faults.is_empty() {
            Ok(catalog)
        } else {
            Err(faults)
        }
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool with this wire name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_name
            .get(name)
            .map(|position| &self.tools[*position])
    }

    /// SHA-256 over the digests of the list entries in order: equal for equal catalogs on any node.
    pub fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| {
            let mut hash = Sha256::new();
            for tool in &self.tools {
                hash.update(tool.digest);
            }
            hash.finalize().into()
        })
    }

    /// List entries from `position` on, at most `count`.
    pub(crate) fn page(
        &self,
        revision: Revision,
        position: usize,
        count: usize,
    ) -> impl Iterator<Item = &str> {
        self.tools
            .iter()
            .skip(position)
            .take(count)
            .map(move |tool| &*tool.entries[revision.index()])
    }
}

impl Tool {
    fn compile(definition: ToolDefinition, config: &Config) -> Result<Self, Vec<DefinitionFault>> {
        let mut faults = Vec::new();
        let name = definition.name.as_str();
        if !is_tool_name(name) {
            faults.push(fault(
                name,
                "name",
                "must be 1 to 128 characters of A-Z a-z 0-9 _ - .",
            ));
        }
        let mut compile = |role, place, document: Option<&Value>| {
            let compiled = document.map(|document| Schema::compile(role, document, &config.schema));
            match compiled.transpose() {
                Ok(schema) => schema.map(Arc::new),
                Err(error) => {
                    let place = format!("{place}{}", error.pointer);
                    faults.push(fault(name, &place, &error.kind.to_string()));
                    None
                }
            }
        };
        let input = compile(
            Role::Input,
            "input_schema",
            definition.input_schema.as_ref(),
        );
        let output = compile(
            Role::Output,
            "output_schema",
            definition.output_schema.as_ref(),
        );
        let headers = match definition
            .input_schema
            .as_ref()
            .map(header_bindings)
            .transpose()
        {
            Ok(bindings) => bindings.unwrap_or_default(),
            Err(error) => {
                let place = format!("input_schema{}", error.pointer);
                faults.push(fault(name, &place, &error.kind.to_string()));
                Vec::new()
            }
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        let entries = list_entries(&definition);
        Ok(Self {
            digest: Sha256::digest(entries[Revision::R20260728.index()].as_bytes()).into(),
            name: name.into(),
            host: definition.host,
            input,
            output,
            headers,
            entries,
        })
    }
}

/// Shows the name: schemas and the host's data are long.
impl fmt::Debug for Tool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tool({})", self.name)
    }
}

fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// The list entry for every revision: a legacy client sees no field that its revision lacks (requirements 0.4, A-17).
fn list_entries(definition: &ToolDefinition) -> [Arc<str>; 3] {
    let newest = list_entry(definition);
    let mut r25 = newest.clone();
    let object_output = newest
        .get("outputSchema")
        .is_none_or(|schema| schema.get("type") == Some(&json!("object")));
    if !object_output {
        r25.shift_remove("outputSchema");
    }
    let mut r06 = r25.clone();
    r06.shift_remove("icons");
    let text = |entry: Map<String, Value>| Arc::<str>::from(Value::Object(entry).to_string());
    [text(r06), text(r25), text(newest)]
}

fn list_entry(definition: &ToolDefinition) -> Map<String, Value> {
    let open_object = || json!({"type": "object"});
    let members = [
        ("name", Some(Value::from(definition.name.as_str()))),
        ("title", definition.title.as_deref().map(Value::from)),
        (
            "description",
            definition.description.as_deref().map(Value::from),
        ),
        (
            "inputSchema",
            Some(definition.input_schema.clone().unwrap_or_else(open_object)),
        ),
        ("outputSchema", definition.output_schema.clone()),
        ("annotations", definition.annotations.clone()),
        ("icons", definition.icons.clone()),
        ("_meta", definition.meta.clone()),
    ];
    members
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

fn fault(definition: &str, place: &str, message: &str) -> DefinitionFault {
    DefinitionFault {
        definition: definition.to_owned(),
        place: place.to_owned(),
        message: message.to_owned(),
    }
}
