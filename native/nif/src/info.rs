//! Counts of what an instance holds, so that leaks can be seen.

use std::fmt::Write;

use rustler::{Encoder, Env, Term};

use crate::{atoms, instance::InstanceHandle, timing};

/// `info/1`
#[rustler::nif]
fn info<'a>(env: Env<'a>, handle: &'a InstanceHandle) -> Term<'a> {
    let _time = timing::measure("info");
    let instance = handle.instance();
    let catalog = &instance.shared.load().catalog;
    let members = [
        (atoms::buffered_bytes(), instance.buffers.held().encode(env)),
        (atoms::calls(), instance.calls.in_flight().encode(env)),
        (
            atoms::catalog_digest(),
            hexadecimal(catalog.digest()).encode(env),
        ),
        (atoms::connections(), instance.connections().encode(env)),
        (atoms::dispatchers(), instance.dispatchers.len().encode(env)),
        (atoms::events_dropped(), instance.ring.dropped().encode(env)),
        // No stream outlives its request yet.
        (atoms::streams(), 0.encode(env)),
        (atoms::tokens(), instance.calls.tokens().encode(env)),
        (atoms::tools(), catalog.tool_count().encode(env)),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes what is written to it");
            text
        })
}
