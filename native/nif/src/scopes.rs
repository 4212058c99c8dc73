//! The options that say which scopes methods need.

use std::collections::BTreeMap;

use mcp_auth::{Gates, GatesError, Hierarchy, Scope, Selection};
use mcp_protocol::ScopePolicy;
use rustler::{Atom, Encoder, Env, Term, types::atom};

use crate::{atoms, fault::Fault, options::Options};

/// `scopes_check/1`: whether an instance can be made of these options.
#[rustler::nif]
fn scopes_check<'a>(env: Env<'a>, options: Term<'a>) -> Term<'a> {
    match read(Options(options)) {
        Ok(_) => atom::ok().encode(env),
        Err(fault) => fault.encode(env),
    }
}

/// Lists of `{key, scopes}` for maps.
pub(crate) fn read(options: Options<'_>) -> Result<ScopePolicy, Fault> {
    let wrong = |error: String| Fault::new(atoms::config(), error);
    let scope_map: Map = options.get(atoms::scope_map())?;
    let defaults: Vec<String> = options.get(atoms::default_scopes())?;
    let implies: Map = options.get(atoms::implies())?;
    if let Some(scope) = defaults.iter().find(|scope| Scope::parse(scope).is_none()) {
        return Err(wrong(format!("default_scopes: {scope:?} is no scope")));
    }
    let gates = Gates::new(&tree(scope_map), &policy(options)?, &defaults);
    let gates = gates.map_err(|error| wrong(format!("{}: {error}", place(&error))))?;
    let gates =
        gates.with_subscription_scopes(&options.get::<Vec<_>>(atoms::subscription_scopes())?);
    let hierarchy = Hierarchy::new(&tree(implies));
    Ok(ScopePolicy {
        gates: gates.map_err(|error| wrong(format!("subscription_scopes: {error}")))?,
        hierarchy: hierarchy.map_err(|error| wrong(format!("implies: {error}")))?,
        hide_unauthorized: options.get(atoms::hide_unauthorized())?,
        authorizes_definitions: options.get(atoms::authorizes_definitions())?,
        steps_up: options.get(atoms::steps_up())?,
    })
}

/// A list of `{method, :visible_definitions | :selected_definition}`.
fn policy(options: Options<'_>) -> Result<BTreeMap<String, Selection>, Fault> {
    let policy: Vec<(String, Atom)> = options.get(atoms::scope_policy())?;
    let selection = |atom| match atom == atoms::visible_definitions() {
        true => Selection::VisibleDefinitions,
        false => Selection::SelectedDefinition,
    };
    let rows = policy.into_iter();
    Ok(rows
        .map(|(method, atom)| (method, selection(atom)))
        .collect())
}

/// The option that is at fault.
fn place(error: &GatesError) -> &'static str {
    match error {
        GatesError::NoSelection(_) | GatesError::Both(_) => "scope_policy",
        _ => "scope_map",
    }
}

type Map = Vec<(String, Vec<String>)>;

fn tree(map: Map) -> BTreeMap<String, Vec<String>> {
    map.into_iter().collect()
}
