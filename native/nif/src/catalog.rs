//! Snapshots of what is offered, compiled from definitions and changed by edits (D6).

use std::sync::Arc;

use mcp_protocol::{Catalog, DefinitionFault, Edited, Listing};
use rustler::{Atom, Encoder, Env, Resource, ResourceArc, Term, types::atom};

use crate::{atoms, definition, instance::InstanceHandle, timing, workers};

/// A compiled snapshot as a term.
pub(crate) struct CatalogSnapshot(Option<Arc<Catalog>>);

/// `catalog_compile/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_compile<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    definitions: Vec<Term<'a>>,
) -> Term<'a> {
    let instance = handle.instance();
    let read = definitions
        .into_iter()
        .map(|definition| definition::read(definition, &instance.released));
    let (definitions, mut faults) = sorted(read);
    match Catalog::compile(definitions, &instance.shared.load().config) {
        Ok(catalog) if faults.is_empty() => (atom::ok(), CatalogSnapshot::new(catalog)).encode(env),
        Ok(_) => refused(env, &faults),
        Err(more) => {
            faults.extend(more);
            refused(env, &faults)
        }
    }
}

/// `catalog_edit/3`
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_edit<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    snapshot: &'a CatalogSnapshot,
    edits: Vec<Term<'a>>,
) -> Term<'a> {
    let instance = handle.instance();
    let read = edits
        .into_iter()
        .map(|edit| definition::read_edit(edit, &instance.released));
    let (edits, mut faults) = sorted(read);
    match snapshot
        .catalog()
        .edit(edits, &instance.shared.load().config)
    {
        Ok(Edited {
            catalog, listed, ..
        }) if faults.is_empty() => {
            let listed: Vec<Atom> = listed.into_iter().map(list).collect();
            (atom::ok(), CatalogSnapshot::new(catalog), listed).encode(env)
        }
        Ok(_) => refused(env, &faults),
        Err(more) => {
            faults.extend(more);
            refused(env, &faults)
        }
    }
}

/// `catalog_differences/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_differences(snapshot: &CatalogSnapshot, other: &CatalogSnapshot) -> Vec<Atom> {
    let differences = snapshot.catalog().differences(&other.catalog());
    differences.into_iter().map(list).collect()
}

/// `catalog_put/2`
#[rustler::nif]
fn catalog_put(handle: &InstanceHandle, snapshot: &CatalogSnapshot) -> Atom {
    let _time = timing::measure("catalog_put");
    let catalog = snapshot.catalog();
    let shared = &handle.instance().shared;
    let before = shared.rcu(|shared| shared.with_catalog(Arc::clone(&catalog)));
    workers::elsewhere(move || drop(before));
    atom::ok()
}

impl CatalogSnapshot {
    fn new(catalog: Catalog) -> ResourceArc<Self> {
        ResourceArc::new(Self(Some(Arc::new(catalog))))
    }

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

/// What could be read, and what is wrong with the rest.
fn sorted<T>(
    read: impl Iterator<Item = Result<T, DefinitionFault>>,
) -> (Vec<T>, Vec<DefinitionFault>) {
    let (mut sound, mut faults) = (Vec::with_capacity(read.size_hint().0), Vec::new());
    for one in read {
        match one {
            Ok(one) => sound.push(one),
            Err(fault) => faults.push(fault),
        }
    }
    (sound, faults)
}

fn list(list: Listing) -> Atom {
    match list {
        Listing::Tools => atoms::tools(),
        Listing::Resources => atoms::resources(),
        Listing::Prompts => atoms::prompts(),
    }
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
