//! Digests of what is served, for hosts that compare nodes or releases (D6).

use std::fmt::Write;

use rustler::{Encoder, Env, Term};

use crate::{atoms, catalog::CatalogSnapshot, instance::InstanceHandle};

/// `catalog_digest/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_digest(handle: &InstanceHandle) -> String {
    let shared = handle.instance().shared.load_full();
    hexadecimal(shared.catalog.digest())
}

/// `catalog_digests/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_digests<'a>(env: Env<'a>, snapshot: &'a CatalogSnapshot) -> Term<'a> {
    let catalog = snapshot.catalog();
    let members = [
        (atoms::digest(), hexadecimal(catalog.digest()).encode(env)),
        (atoms::prompts(), pairs(env, catalog.prompt_digests())),
        (atoms::resources(), pairs(env, catalog.resource_digests())),
        (atoms::templates(), pairs(env, catalog.template_digests())),
        (atoms::tools(), pairs(env, catalog.tool_digests())),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}

fn pairs<'a, 'c>(env: Env<'a>, digests: impl Iterator<Item = (&'c str, &'c [u8; 32])>) -> Term<'a> {
    let pairs: Vec<(&str, String)> = digests
        .map(|(name, digest)| (name, hexadecimal(digest)))
        .collect();
    pairs.encode(env)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes what is written to it");
            text
        })
}
