//! Tools (MCP 2026-07-28 server/tools).

use std::{fmt, sync::Arc};

use mcp_schema::{HeaderBinding, Role, Schema, header_bindings};
use serde_json::{Value, json};

use super::{
    access::Access,
    definition::{DefinitionFault, Handler, fault, same_handler},
    entry::ListEntry,
    extensions::page,
    limits::{Gate, ToolLimits},
    section::{Defined, Listed},
};
use crate::{config::Config, task::TaskSupport};

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
    /// How much of it may run.
    pub limits: ToolLimits,
    /// Whether its calls may become tasks.
    pub task_support: TaskSupport,
    /// Which scopes it needs.
    pub access: Access,
    /// Whatever the host needs to find its function again.
    pub handler: Arc<dyn Handler>,
}

/// A tool ready to be listed and called.
pub struct Tool {
    /// The wire name.
    pub name: Arc<str>,
    /// The host's own data.
    pub handler: Arc<dyn Handler>,
    /// The page that shows it.
    pub(super) page: Option<Arc<str>>,
    pub(crate) input: Option<Arc<Schema>>,
    pub(crate) output: Option<Arc<Schema>>,
    pub(crate) headers: Vec<HeaderBinding>,
    /// Whether its calls may become tasks.
    pub task_support: TaskSupport,
    pub(crate) limits: ToolLimits,
    /// Counts its calls, where they are limited.
    pub(crate) gate: Option<Arc<Gate>>,
    access: mcp_auth::Definition,
    entry: ListEntry,
}

impl Tool {
    pub(super) fn compile(
        definition: ToolDefinition,
        config: &Config,
    ) -> Result<Self, Vec<DefinitionFault>> {
        let mut faults = Vec::new();
        let name = definition.name.as_str();
        if !is_tool_name(name) {
            let message = "must be 1 to 128 characters of A-Z a-z 0-9 _ - .";
            faults.push(fault(name, "name", message));
        }
        faults.extend(definition.limits.check(name).err());
        let page = page(name, definition.meta.as_ref()).unwrap_or_else(|fault| {
            faults.push(fault);
            None
        });
        let access = definition.access.compile(name).unwrap_or_else(|fault| {
            faults.push(fault);
            mcp_auth::Definition::default()
        });
        let mut compile = |role, place, document: Option<&Value>| {
            let compiled = document.map(|document| Schema::compile(role, document, &config.schema));
            match compiled.transpose() {
                Ok(schema) => schema.map(Arc::new),
                Err(error) => {
                    faults.push(schema_fault(name, place, &error));
                    None
                }
            }
        };
        let input_schema = definition.input_schema.as_ref();
        let input = compile(Role::Input, "input_schema", input_schema);
        let output_schema = definition.output_schema.as_ref();
        let output = compile(Role::Output, "output_schema", output_schema);
        let headers = match input_schema.map(header_bindings).transpose() {
            Ok(bindings) => bindings.unwrap_or_default(),
            Err(error) => {
                faults.push(schema_fault(name, "input_schema", &error));
                Vec::new()
            }
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            name: name.into(),
            page,
            input,
            output,
            headers,
            limits: definition.limits,
            task_support: definition.task_support,
            gate: definition.limits.count().then(Arc::default),
            handler: Arc::clone(&definition.handler),
            access,
            entry: entry(definition),
        })
    }
}

impl Defined for Tool {
    type Key = Arc<str>;

    fn key(&self) -> &Arc<str> {
        &self.name
    }

    fn is_same(&self, other: &Self) -> bool {
        self.entry.digest() == other.entry.digest()
            && self.access == other.access
            && self.limits == other.limits
            && self.task_support == other.task_support
            && same_handler(&self.handler, &other.handler)
    }

    /// Calls of the one before count against the limits until they end.
    fn succeed(&mut self, before: &Self) {
        if let (Some(gate), Some(kept)) = (&mut self.gate, &before.gate) {
            *gate = Arc::clone(kept);
        }
    }
}

impl Listed for Tool {
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

fn schema_fault(name: &str, place: &str, error: &mcp_schema::Error) -> DefinitionFault {
    let place = format!("{place}{}", error.pointer);
    fault(name, &place, error.kind.to_string())
}

/// Legacy clients know output schemas of objects only.
fn entry(definition: ToolDefinition) -> ListEntry {
    let output_is_object = definition
        .output_schema
        .as_ref()
        .is_none_or(|schema| schema.get("type") == Some(&json!("object")));
    let modern_alone: &[&str] = if output_is_object {
        &[]
    } else {
        &["outputSchema"]
    };
    let input_schema = definition
        .input_schema
        .unwrap_or_else(|| json!({"type": "object"}));
    ListEntry::new(
        [
            ("name", Some(definition.name.into())),
            ("title", definition.title.map(Value::from)),
            ("description", definition.description.map(Value::from)),
            ("inputSchema", Some(input_schema)),
            ("outputSchema", definition.output_schema),
            ("annotations", definition.annotations),
            ("icons", definition.icons),
            ("_meta", definition.meta),
        ],
        modern_alone,
    )
}
