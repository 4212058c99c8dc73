//! What a handler may know of its request, as `BeamMCP.Context.new/2` takes it.

use mcp_json::Node;
use mcp_protocol::{
    Config, Identity, Json, RequestContext, RequestHead, Single, TRACE_KEYS, Transport,
};
use rustler::{Encoder, Env, Term, types::atom};

use crate::{
    atoms,
    decode::{self, Decoder, binary},
};

/// `{request, client, caller}`, three tuples: the process that gets them makes the struct, whose keys it shares with
/// every other.
pub(crate) fn encode<'a>(
    decoder: &mut Decoder<'a>,
    call: u64,
    context: &RequestContext,
    config: &Config,
) -> Term<'a> {
    let env = decoder.env();
    let head = context.head.as_deref();
    let transport = match context.transport {
        Transport::Http => atoms::http(),
        Transport::Stdio => atoms::stdio(),
    };
    let request = (
        call,
        request_id(env, context.id.raw()),
        context.method.as_str(),
        context.revision.as_str(),
        transport,
        context.deadline_ms,
        context.session.as_deref(),
    );
    let meta = decoder.members(context.meta());
    let client = (
        context.client_info().map(|info| json(decoder, info)),
        json(decoder, context.client_capabilities()),
        meta,
        headers(env, head, &config.context_headers),
        trace(meta, context),
    );
    let identity = context.identity.as_ref();
    let caller = (binding_key(env, identity), said(env, identity));
    (request, client, caller).encode(env)
}

/// What ties things to their owner; nothing where nobody says who calls.
fn binding_key<'a>(env: Env<'a>, identity: Option<&Identity>) -> Term<'a> {
    match identity {
        Some(identity) => binary(env, identity.principal.as_bytes()),
        None => atom::nil().to_term(env),
    }
}

/// `{principal, scopes, claims, sender, tenant}` as a hook said it; nothing where it named nobody.
fn said<'a>(env: Env<'a>, identity: Option<&Identity>) -> Option<Term<'a>> {
    let (term, _) = env.binary_to_term(&identity?.term)?;
    Some(term)
}

fn json<'a>(decoder: &mut Decoder<'a>, json: Json<'_>) -> Term<'a> {
    match json {
        Json::Node(node) => decoder.value(node),
        Json::Text(text) => decode::text(decoder.env(), text),
    }
}

/// A string or an integer; the core has seen that it is one.
fn request_id<'a>(env: Env<'a>, raw: &str) -> Term<'a> {
    match raw.parse::<i64>() {
        Ok(integer) => integer.encode(env),
        Err(_) => decode::text(env, raw),
    }
}

/// The headers that the host asked for, in the order in which it did, repeats kept.
fn headers<'a>(env: Env<'a>, head: Option<&RequestHead>, wanted: &[String]) -> Term<'a> {
    let Some(head) = head.filter(|_| !wanted.is_empty()) else {
        return Term::list_new_empty(env);
    };
    let lines = wanted.iter().flat_map(|name| {
        head.values(name)
            .map(|value| (binary(env, name.as_bytes()), binary(env, value)))
    });
    lines.collect::<Vec<_>>().encode(env)
}

/// Trace context (W3C): from `_meta` (requirement META-12), else from the HTTP headers of the same names.
fn trace<'a>(meta: Term<'a>, context: &RequestContext) -> Term<'a> {
    let env = meta.get_env();
    // One look is enough for most requests, which have none of these.
    let in_meta = meta.map_size().is_ok_and(|size| size > 0);
    let head = context.head.as_deref();
    let keys = [atoms::baggage(), atoms::traceparent(), atoms::tracestate()];
    keys.into_iter()
        .zip(TRACE_KEYS)
        .fold(Term::map_new(env), |trace, (key, name)| {
            let from_meta = in_meta.then(|| context.meta_value(name)).flatten();
            let value = match (
                from_meta.and_then(Node::as_str),
                head.map(|head| head.single(name)),
            ) {
                (Some(text), _) => binary(env, text.as_bytes()),
                (None, Some(Single::Value(value))) => binary(env, value),
                _ => return trace,
            };
            trace.map_put(key, value).expect("the term is a map")
        })
}
