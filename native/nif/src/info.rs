//! Counts of what an instance holds, so that leaks can be seen.

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
        (atoms::completions(), catalog.completion_count().encode(env)),
        (atoms::connections(), instance.connections().encode(env)),
        (
            atoms::detached_streams(),
            instance.detached.len().encode(env),
        ),
        (atoms::dispatchers(), instance.dispatchers.len().encode(env)),
        (atoms::events_dropped(), instance.ring.dropped().encode(env)),
        (
            atoms::messages_dropped(),
            instance.calls.messages_dropped().encode(env),
        ),
        (atoms::prompts(), catalog.prompt_count().encode(env)),
        (atoms::resources(), catalog.resource_count().encode(env)),
        (
            atoms::changes_folded(),
            instance.subscribers.folded().encode(env),
        ),
        (
            atoms::streams(),
            (instance.calls.streams() + instance.subscribers.streams()).encode(env),
        ),
        (
            atoms::subscriptions(),
            instance.subscribers.len().encode(env),
        ),
        (atoms::templates(), catalog.template_count().encode(env)),
        (atoms::tokens(), instance.calls.tokens().encode(env)),
        (atoms::tools(), catalog.tool_count().encode(env)),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}
