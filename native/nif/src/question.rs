//! Questions of the core as terms, built on the heap of the process that answers them.

use std::any::Any;

use mcp_driver::Token;
use mcp_protocol::{Ask, Call, Peer, RequestHead, Session, SessionAsk, Target};
use rustler::{Encoder, Env, LocalPid, ResourceArc, Term, types::atom};

use crate::{
    address, atoms,
    catalog::ToolHost,
    context,
    decode::{Decoder, binary},
    instance::Instance,
    token::{Asked, CallToken},
};

/// The tuple that `accept` returns.
pub(crate) fn encode<'a>(
    env: Env<'a>,
    instance: &Instance,
    token: Token<LocalPid>,
    ask: Ask,
) -> Term<'a> {
    let number = token.number();
    let shared = instance.shared.load();
    let config = &shared.config;
    let Some(asked) = Asked::of(&ask) else {
        return atoms::gone().encode(env);
    };
    let token = ResourceArc::new(CallToken {
        token,
        asked,
        max_result_bytes: config.max_result_bytes,
    });
    match ask {
        Ask::Call(call) => {
            let mut decoder = Decoder::new(env);
            let context = context::encode(&mut decoder, number, &call.context, config);
            call_tuple(decoder, &token, &call, context)
        }
        Ask::Authorize { hook, head } => {
            (atoms::authorize(), token, hook, request(env, &head)).encode(env)
        }
        Ask::AuthorizeBody { hook, head, body } => (
            atoms::authorize_body(),
            token,
            hook,
            request(env, &head),
            binary(env, &body),
        )
            .encode(env),
        Ask::Session(ask) => (atoms::session(), token, session(env, &ask)).encode(env),
        Ask::Catalog(context) => (
            atoms::catalog(),
            token,
            context::encode(&mut Decoder::new(env), number, &context, config),
        )
            .encode(env),
        Ask::Body { .. } | Ask::Cancel { .. } => atoms::gone().encode(env),
    }
}

fn call_tuple<'a>(
    mut decoder: Decoder<'a>,
    token: &ResourceArc<CallToken>,
    call: &Call,
    context: Term<'a>,
) -> Term<'a> {
    let Target::Tool(tool) = &call.target else {
        return atoms::gone().encode(decoder.env());
    };
    let host = (&*tool.handler as &dyn Any)
        .downcast_ref::<ToolHost>()
        .expect("every tool is compiled by this crate");
    let arguments = match call.arguments {
        Some(id) => {
            let node = call.context.message().node(id);
            decoder.object(node, |env, name| host.argument_key(env, name))
        }
        None => Term::map_new(decoder.env()),
    };
    (atoms::call(), token, &host.function, arguments, context).encode(decoder.env())
}

/// `%BeamMCP.Request{}`
fn request<'a>(env: Env<'a>, head: &RequestHead) -> Term<'a> {
    let headers: Vec<(Term<'a>, Term<'a>)> = head
        .headers()
        .map(|(name, value)| (name.encode(env), binary(env, value)))
        .collect();
    let peer = match head.peer() {
        Peer::Tcp(address) => address::encode(env, address),
        Peer::Unix => atoms::unix().encode(env),
    };
    let members = [
        (atoms::struct_key(), atoms::request_struct().encode(env)),
        (atoms::headers(), headers.encode(env)),
        (atoms::method(), head.method().encode(env)),
        (atoms::path(), head.path().encode(env)),
        (atoms::peer(), peer),
        (atoms::query(), head.query().encode(env)),
        (atoms::tls(), atom::nil().encode(env)),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}

fn session<'a>(env: Env<'a>, ask: &SessionAsk) -> Term<'a> {
    match ask {
        SessionAsk::Create(session) => (atoms::create(), stored(env, session)).encode(env),
        SessionAsk::Fetch(id) => (atoms::fetch(), &**id).encode(env),
        SessionAsk::Delete(id) => (atoms::delete(), &**id).encode(env),
    }
}

/// A session as a store keeps it.
fn stored<'a>(env: Env<'a>, session: &Session) -> Term<'a> {
    let principal = session
        .principal
        .as_ref()
        .map(|principal| binary(env, principal.as_bytes()));
    let members = [
        (
            atoms::client_capabilities(),
            (*session.client_capabilities).encode(env),
        ),
        (atoms::client_info(), (*session.client_info).encode(env)),
        (atoms::principal(), principal.encode(env)),
        (atoms::revision(), session.revision.as_str().encode(env)),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}
