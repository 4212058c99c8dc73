//! `%BeamMCP.Context{}`: what a handler may know of its request.

use bytes::Bytes;
use mcp_json::{Document, Limits, Node};
use mcp_protocol::{Config, Identity, RequestContext, RequestHead, Single};
use rustler::{Atom, Encoder, Env, Term, types::atom};

use crate::{
    atoms,
    decode::{self, Decoder, binary},
};

/// Builds the struct. The keys stand in the order that the VM sorts them in, which spares it the sorting.
pub(crate) fn encode<'a>(
    env: Env<'a>,
    call: u64,
    context: &RequestContext,
    config: &Config,
) -> Term<'a> {
    let nil = atom::nil().to_term(env);
    let head = context.head.as_deref();
    let meta = context.meta.as_deref().and_then(parse);
    let identity = Caller::of(env, context.identity.as_ref());
    let transport = if head.is_some() {
        atoms::http()
    } else {
        atoms::stdio()
    };
    let keys = [
        atoms::struct_key(),
        atoms::call(),
        atoms::claims(),
        atoms::client_capabilities(),
        atoms::client_info(),
        atoms::deadline_ms(),
        atoms::headers(),
        atoms::instance(),
        atoms::meta(),
        atoms::method(),
        atoms::principal(),
        atoms::request_id(),
        atoms::revision(),
        atoms::scopes(),
        atoms::sender(),
        atoms::session_id(),
        atoms::tenant(),
        atoms::trace(),
        atoms::transport(),
    ];
    let values = [
        atoms::context_struct().to_term(env),
        call.encode(env),
        identity.claims,
        decode::text(env, &context.client_capabilities),
        context
            .client_info
            .as_deref()
            .map_or(nil, |info| decode::text(env, info)),
        context.deadline_ms.encode(env),
        headers(env, head, &config.context_headers),
        nil,
        meta.as_ref().map_or_else(
            || Term::map_new(env),
            |meta| Decoder::new(env).value(meta.root()),
        ),
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
        identity.tenant,
        trace(env, meta.as_ref(), head),
        transport.to_term(env),
    ];
    Term::map_from_term_arrays(env, &keys.map(|key| key.to_term(env)), &values)
        .expect("the keys differ")
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

fn parse(json: &str) -> Option<Document> {
    let unlimited = Limits {
        max_depth: usize::MAX,
        max_number_digits: usize::MAX,
    };
    Document::parse(Bytes::copy_from_slice(json.as_bytes()), &unlimited).ok()
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
fn trace<'a>(env: Env<'a>, meta: Option<&Document>, head: Option<&RequestHead>) -> Term<'a> {
    let names: [(Atom, &str); 3] = [
        (atoms::baggage(), "baggage"),
        (atoms::traceparent(), "traceparent"),
        (atoms::tracestate(), "tracestate"),
    ];
    names
        .into_iter()
        .fold(Term::map_new(env), |trace, (key, name)| {
            let from_meta = meta
                .and_then(|meta| meta.root().get(name))
                .and_then(Node::as_str);
            let value = match (from_meta, head.map(|head| head.single(name))) {
                (Some(text), _) => binary(env, text.as_bytes()),
                (None, Some(Single::Value(value))) => binary(env, value),
                _ => return trace,
            };
            trace.map_put(key, value).expect("the term is a map")
        })
}
