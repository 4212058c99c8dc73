//! `%BeamMCP.Context{}`: what a handler may know of its request.

use mcp_json::Node;
use mcp_protocol::{Config, Identity, Json, RequestContext, RequestHead, Single};
use rustler::{Encoder, Env, Term, types::atom};

use crate::{
    atoms,
    decode::{self, Decoder, binary},
};

/// Builds the struct. The keys stand in the order that the VM sorts them in, which spares it the sorting.
pub(crate) fn encode<'a>(
    decoder: &mut Decoder<'a>,
    call: u64,
    context: &RequestContext,
    config: &Config,
) -> Term<'a> {
    let env = decoder.env();
    let nil = atom::nil().to_term(env);
    let head = context.head.as_deref();
    let identity = Caller::of(env, context.identity.as_ref());
    let meta = decoder.members(context.meta());
    let transport = if head.is_some() {
        atoms::http()
    } else {
        atoms::stdio()
    };
    let keys = [
        atoms::struct_key(),
        atoms::binding_key(),
        atoms::call(),
        atoms::claims(),
        atoms::client_capabilities(),
        atoms::client_info(),
        atoms::deadline_ms(),
        atoms::headers(),
        atoms::host(),
        atoms::instance(),
        atoms::meta(),
        atoms::method(),
        atoms::principal(),
        atoms::request_id(),
        atoms::revision(),
        atoms::scopes(),
        atoms::sender(),
        atoms::session_id(),
        atoms::task(),
        atoms::tenant(),
        atoms::trace(),
        atoms::transport(),
    ];
    let values = [
        atoms::context_struct().to_term(env),
        binding_key(env, context.identity.as_ref()),
        call.encode(env),
        identity.claims,
        json(decoder, context.client_capabilities()),
        context
            .client_info()
            .map_or(nil, |info| json(decoder, info)),
        context.deadline_ms.encode(env),
        headers(env, head, &config.context_headers),
        Term::map_new(env),
        nil,
        meta,
        binary(env, context.method.as_str().as_bytes()),
        identity.principal,
        request_id(env, context.id.raw()),
        binary(env, context.revision.as_str().as_bytes()),
        identity.scopes,
        identity.sender,
        context
            .session
            .as_deref()
            .map_or(nil, |id| binary(env, id.as_bytes())),
        nil,
        identity.tenant,
        trace(meta, context),
        transport.to_term(env),
    ];
    Term::map_from_term_arrays(env, &keys.map(|key| key.to_term(env)), &values)
        .expect("the keys differ")
}

/// What ties things to their owner; nothing where nobody says who calls.
fn binding_key<'a>(env: Env<'a>, identity: Option<&Identity>) -> Term<'a> {
    match identity {
        Some(identity) => binary(env, identity.principal.as_bytes()),
        None => atom::nil().to_term(env),
    }
}

/// What a hook said of the caller.
struct Caller<'a> {
    principal: Term<'a>,
    scopes: Term<'a>,
    claims: Term<'a>,
    sender: Term<'a>,
    tenant: Term<'a>,
}

impl<'a> Caller<'a> {
    fn of(env: Env<'a>, identity: Option<&Identity>) -> Self {
        let known = identity.and_then(|identity| Self::known(env, identity));
        let nil = atom::nil().to_term(env);
        known.unwrap_or(Self {
            principal: atoms::anonymous().to_term(env),
            scopes: nil,
            claims: nil,
            sender: nil,
            tenant: nil,
        })
    }

    fn known(env: Env<'a>, identity: &Identity) -> Option<Self> {
        let (term, _) = env.binary_to_term(&identity.term)?;
        let (principal, scopes, claims, sender, tenant) = term.decode().ok()?;
        Some(Self {
            principal,
            scopes,
            claims,
            sender,
            tenant,
        })
    }
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
    let in_meta = meta != Term::map_new(env);
    let traced = |head: &&RequestHead| {
        head.headers()
            .any(|(name, _)| TRACE_HEADERS.contains(&name))
    };
    let head = context.head.as_deref().filter(traced);
    let keys = [atoms::baggage(), atoms::traceparent(), atoms::tracestate()];
    keys.into_iter()
        .zip(TRACE_HEADERS)
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

const TRACE_HEADERS: [&str; 3] = ["baggage", "traceparent", "tracestate"];
