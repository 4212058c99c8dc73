//! The options that say which scopes methods need.

use std::collections::BTreeMap;

use mcp_auth::{Gates, Hierarchy, Scope};
use mcp_protocol::ScopePolicy;
use rustler::{Encoder, Env, Term, types::atom};

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
    let gates = Gates::new(&tree(scope_map), &BTreeMap::new(), &defaults);
    let hierarchy = Hierarchy::new(&tree(implies));
    Ok(ScopePolicy {
        gates: gates.map_err(|error| wrong(format!("scope_map: {error}")))?,
        hierarchy: hierarchy.map_err(|error| wrong(format!("implies: {error}")))?,
    })
}

type Map = Vec<(String, Vec<String>)>;

fn tree(map: Map) -> BTreeMap<String, Vec<String>> {
    map.into_iter().collect()
}
