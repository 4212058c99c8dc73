//! Definitions as the BEAM hands them over, and the snapshots made of them (D6).

use std::{any::Any, sync::Arc};

use mcp_json::Document;
use mcp_protocol::{Catalog, DefinitionFault, Handler, ToolDefinition, ToolLimits};
use rustler::{Atom, Encoder, Env, MapIterator, Resource, ResourceArc, Term, types::atom};
use serde_json::Value;

use crate::{
    atoms,
    budget::Scheduler,
    decode, encode,
    fault::Fault,
    instance::InstanceHandle,
    options::{self, Options},
    refusal::Refusal,
    timing, workers,
};

/// A compiled snapshot as a term.
pub(crate) struct CatalogSnapshot(Option<Arc<Catalog>>);

/// What a tool carries for its host.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct ToolHost {
    pub(crate) function: Function,
    /// Declared top-level properties and their atoms, sorted by name.
    argument_keys: Box<[(Box<str>, Atom)]>,
}

/// What the host finds its function by, given back as it came.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Function {
    Atom(Atom),
    Binary(Box<[u8]>),
}

/// `catalog_compile/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_compile<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    definitions: Vec<Term<'a>>,
) -> Term<'a> {
    let mut faults = Vec::new();
    let mut read = Vec::with_capacity(definitions.len());
    for definition in definitions {
        match definition_of(Options(definition)) {
            Ok(definition) => read.push(definition),
            Err(fault) => faults.push(fault),
        }
    }
    match Catalog::compile(read, &handle.instance().shared.load().config) {
        Ok(catalog) if faults.is_empty() => {
            // Computed once and kept, so that `info/1` finds it.
            catalog.digest();
            (
                atom::ok(),
                ResourceArc::new(CatalogSnapshot(Some(Arc::new(catalog)))),
            )
                .encode(env)
        }
        Ok(_) => refused(env, &faults),
        Err(more) => {
            faults.extend(more);
            refused(env, &faults)
        }
    }
}

/// `catalog_put/2`
#[rustler::nif]
fn catalog_put(handle: &InstanceHandle, snapshot: &CatalogSnapshot) -> Atom {
    let _time = timing::measure("catalog_put");
    let catalog = snapshot.catalog();
    let before = handle.instance().shared.rcu(|shared| {
        let mut shared = (**shared).clone();
        shared.catalog = Arc::clone(&catalog);
        shared
    });
    workers::elsewhere(move || drop(before));
    atom::ok()
}

impl CatalogSnapshot {
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let catalog = self
            .0
            .as_ref()
            .expect("the catalog is taken out by the destructor alone");
        Arc::clone(catalog)
    }
}

#[rustler::resource_impl]
impl Resource for CatalogSnapshot {}

impl Drop for CatalogSnapshot {
    fn drop(&mut self) {
        let catalog = self.0.take();
        workers::elsewhere(move || drop(catalog));
    }
}

impl ToolHost {
    /// A top-level argument's key: an atom when the schema declares it, else a binary (D6).
    pub(crate) fn argument_key<'a>(&self, env: Env<'a>, name: &str) -> Term<'a> {
        match self
            .argument_keys
            .binary_search_by(|(key, _)| (**key).cmp(name))
        {
            Ok(position) => self.argument_keys[position].1.to_term(env),
            Err(_) => name.encode(env),
        }
    }
}

impl Handler for ToolHost {
    fn is_same(&self, other: &dyn Handler) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

impl Encoder for Function {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Atom(atom) => atom.to_term(env),
            Self::Binary(bytes) => crate::decode::binary(env, bytes),
        }
    }
}

/// The JSON value of a term.
pub(crate) fn json_value(term: Term<'_>) -> Result<Value, Fault> {
    let json = encode::to_json(term, Scheduler::Dirty, usize::MAX).map_err(Refusal::into_fault)?;
    Document::parse(json.into(), &decode::CHECKED)
        .map(|document| document.root().to_value())
        .map_err(|error| Fault::new(atoms::unencodable(), error.to_string()))
}

fn definition_of(definition: Options<'_>) -> Result<ToolDefinition, DefinitionFault> {
    let name: String = definition
        .get(atoms::name())
        .map_err(|fault| at("", "name", fault))?;
    let field = |key: Atom, place: &str| {
        let value: Option<Term<'_>> = definition
            .get(key)
            .map_err(|fault| at(&name, place, fault))?;
        value
            .filter(|term| atom::nil() != *term)
            .map(json_value)
            .transpose()
            .map_err(|fault| at(&name, place, fault))
    };
    let text =
        |key: Atom, place: &str| definition.get(key).map_err(|fault| at(&name, place, fault));
    Ok(ToolDefinition {
        title: text(atoms::title(), "title")?,
        description: text(atoms::description(), "description")?,
        input_schema: field(atoms::input_schema(), "input_schema")?,
        output_schema: field(atoms::output_schema(), "output_schema")?,
        annotations: field(atoms::annotations(), "annotations")?,
        icons: field(atoms::icons(), "icons")?,
        meta: field(atoms::meta(), "meta")?,
        limits: ToolLimits::default(),
        handler: Arc::new(tool_host(definition).map_err(|fault| at(&name, "handler", fault))?),
        name,
    })
}

fn tool_host(definition: Options<'_>) -> Result<ToolHost, Fault> {
    let handler: Term<'_> = definition.get(atoms::handler())?;
    let function = match handler.decode::<Atom>() {
        Ok(atom) => Function::Atom(atom),
        Err(_) => Function::Binary(
            definition
                .get::<rustler::Binary<'_>>(atoms::handler())?
                .as_slice()
                .into(),
        ),
    };
    let keys: MapIterator<'_> = definition.get(atoms::argument_keys())?;
    let mut argument_keys = keys
        .map(|(name, atom)| Ok((name.decode::<&str>()?.into(), atom.decode::<Atom>()?)))
        .collect::<rustler::NifResult<Vec<(Box<str>, Atom)>>>()
        .map_err(|_| options::wrong(atoms::argument_keys(), "not a map of binaries to atoms"))?;
    argument_keys.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(ToolHost {
        function,
        argument_keys: argument_keys.into(),
    })
}

fn refused<'a>(env: Env<'a>, faults: &[DefinitionFault]) -> Term<'a> {
    let rows: Vec<(&str, &str, &str)> = faults
        .iter()
        .map(|fault| {
            (
                fault.definition.as_str(),
                fault.place.as_str(),
                fault.message.as_str(),
            )
        })
        .collect();
    (atom::error(), rows).encode(env)
}

fn at(definition: &str, place: &str, fault: Fault) -> DefinitionFault {
    DefinitionFault {
        definition: definition.to_owned(),
        place: place.to_owned(),
        message: fault.detail,
    }
}
