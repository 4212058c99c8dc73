//! Questions of the core as terms, built on the heap of the process that answers them.

use mcp_auth::{Accepted, Inquiry};
use mcp_driver::Token;
use mcp_protocol::{
    Ask, Call, Completing, LogLevel, Offer, OfferKind, Peer, Reading, Reference, RequestHead,
    Session, SessionAsk, Target,
};
use rustler::{
    Atom, Encoder, Env, LocalPid, ResourceArc, Term,
    types::{atom, tuple},
};

use crate::{
    address, atoms,
    call::is_small,
    context,
    decode::{Decoder, binary},
    handler::HostHandler,
    identity,
    instance::Instance,
    introspection::InquiryHandle,
    task, tls,
    token::{Asked, CallToken, HeldCall},
};

/// The tuple that `accept` returns.
pub(crate) fn encode<'a>(
    env: Env<'a>,
    instance: &Instance,
    token: Token<LocalPid>,
    ask: Ask,
) -> Term<'a> {
    let number = token.number();
    let config = &instance.config;
    let token = |asked| {
        ResourceArc::new(CallToken {
            asked,
            token,
            max_result_bytes: config.max_result_bytes,
        })
    };
    match ask {
        Ask::Call(call) => {
            let mut decoder = Decoder::new(env);
            let context = context::encode(&mut decoder, number, &call.context, config);
            call_tuple(decoder, call, context, token)
        }
        Ask::Authorize { hook, head } => {
            let token = token(Asked::Authorize);
            (atoms::authorize(), token, hook, request(env, &head, &[])).encode(env)
        }
        Ask::Keys { hook, issuer } => {
            (atoms::keys(), token(Asked::Fetch), hook, issuer).encode(env)
        }
        Ask::Introspect { hook, inquiry } => {
            let (digest, inquiry) = inquiry_pair(env, inquiry);
            (
                atoms::introspect(),
                token(Asked::Fetch),
                hook,
                digest,
                inquiry,
            )
                .encode(env)
        }
        Ask::Settle {
            hook,
            head,
            accepted,
            inquiry,
        } => {
            let token = token(Asked::Settle);
            let inquiry = inquiry.map(|inquiry| inquiry_pair(env, inquiry));
            settle(env, token, hook, &head, &accepted, inquiry)
        }
        Ask::AuthorizeBody { hook, head, body } => (
            atoms::authorize_body(),
            token(Asked::Authorize),
            hook,
            request(env, &head, &[]),
            binary(env, &body),
        )
            .encode(env),
        Ask::Session(ask) => {
            let token = token(Asked::Session);
            (atoms::session(), token, session(env, &ask)).encode(env)
        }
        Ask::Task(ask) => {
            let token = token(Asked::Task);
            (atoms::task(), token, task::encode(env, &ask)).encode(env)
        }
        Ask::Relay(relay) => (
            atoms::relay(),
            token(Asked::Relay),
            &*relay.session,
            binary(env, relay.message.bytes()),
        )
            .encode(env),
        Ask::Permit(ask) => (
            atoms::permit(),
            token(Asked::Permit),
            offer(env, &ask.offer),
            ask.steps_up,
            context::encode(&mut Decoder::new(env), number, &ask.context, config),
        )
            .encode(env),
        Ask::Sift {
            context,
            kind,
            names,
        } => (
            atoms::sift(),
            token(Asked::Sift),
            offer_kind(kind),
            names.iter().map(|name| &**name).collect::<Vec<_>>(),
            context::encode(&mut Decoder::new(env), number, &context, config),
        )
            .encode(env),
        Ask::Catalog(context) => (
            atoms::catalog(),
            token(Asked::Catalog),
            context::encode(&mut Decoder::new(env), number, &context, config),
        )
            .encode(env),
        Ask::Guard(_) | Ask::Cancel { .. } | Ask::Hear { .. } => atoms::gone().encode(env),
    }
}

/// The question of a call, with the host's own part of the definition.
fn call_tuple<'a>(
    mut decoder: Decoder<'a>,
    mut call: Box<Call>,
    context: Term<'a>,
    token: impl FnOnce(Asked) -> ResourceArc<CallToken>,
) -> Term<'a> {
    let env = decoder.env();
    let arguments = arguments(&mut decoder, &call);
    // The token keeps the call, perhaps for long after its client has gone; what is large about it is not counted then.
    call.context.head = None;
    if !is_small(&call.context) {
        call.let_go_of_message();
    }
    let token = |call| token(Asked::Call(HeldCall::new(call))).encode(env);
    // What the definition says becomes terms before the token takes the call.
    match &call.target {
        Target::Tool(tool) => {
            let function = HostHandler::of(&*tool.handler).encode(env);
            (atoms::call(), token(call), function, arguments, context).encode(env)
        }
        Target::Resource(reading) => {
            let function = HostHandler::of(reading.handler()).encode(env);
            let (uri, params) = (reading.uri.encode(env), variables(env, reading));
            (atoms::read(), token(call), function, uri, params, context).encode(env)
        }
        Target::Prompt(prompt) => {
            let function = HostHandler::of(&*prompt.handler).encode(env);
            let name = prompt.name.encode(env);
            let elements = (
                atoms::get_prompt(),
                token(call),
                function,
                name,
                arguments,
                context,
            );
            elements.encode(env)
        }
        Target::Completion(completing) => {
            let [function, reference, argument, value] = completed(env, completing);
            let elements = [
                atoms::complete().encode(env),
                token(call),
                function,
                reference,
                argument,
                value,
                arguments,
                context,
            ];
            tuple::make_tuple(env, &elements)
        }
    }
}

/// Function, reference, argument and value.
fn completed<'a>(env: Env<'a>, completing: &Completing) -> [Term<'a>; 4] {
    let function = match &completing.completion {
        Some(completion) => HostHandler::of(&*completion.handler).encode(env),
        None => atom::nil().encode(env),
    };
    let reference = match &completing.reference {
        Reference::Prompt(name) => (atoms::prompt(), &**name),
        Reference::Resource(uri) => (atoms::resource(), &**uri),
    };
    [
        function,
        reference.encode(env),
        completing.argument.encode(env),
        completing.value.encode(env),
    ]
}

/// The arguments of a call, under atoms where the host declared them.
fn arguments<'a>(decoder: &mut Decoder<'a>, call: &Call) -> Term<'a> {
    let Some(id) = call.arguments else {
        return Term::map_new(decoder.env());
    };
    let node = call.context.message().node(id);
    let handler = match &call.target {
        Target::Tool(tool) => &*tool.handler,
        Target::Prompt(prompt) => &*prompt.handler,
        Target::Resource(_) | Target::Completion(_) => return decoder.value(node),
    };
    let host = HostHandler::of(handler);
    decoder.object(node, |env, name| host.argument_key(env, name))
}

/// The variables of a template, under strings.
fn variables<'a>(env: Env<'a>, reading: &Reading) -> Term<'a> {
    let variables = reading.variables.iter();
    variables.fold(Term::map_new(env), |map, (name, value)| {
        map.map_put(&**name, value).expect("the term is a map")
    })
}

/// `{kind, name, uri | nil}`
fn offer<'a>(env: Env<'a>, offer: &Offer) -> Term<'a> {
    let kind = offer_kind(offer.kind);
    (kind, &*offer.name, offer.uri.as_deref()).encode(env)
}

fn offer_kind(kind: OfferKind) -> Atom {
    match kind {
        OfferKind::Tool => atoms::tool(),
        OfferKind::Resource => atoms::resource(),
        OfferKind::Template => atoms::template(),
        OfferKind::Prompt => atoms::prompt(),
    }
}

/// The question about a sender whose token is right: the token itself stays here.
fn settle<'a>(
    env: Env<'a>,
    token: ResourceArc<CallToken>,
    hook: u64,
    head: &RequestHead,
    accepted: &Accepted,
    inquiry: Option<InquiryPair<'a>>,
) -> Term<'a> {
    let replay = accepted.replay.as_ref();
    let replay = replay.map(|replay| (&*replay.key, replay.ttl_s));
    (
        atoms::settle(),
        token,
        hook,
        request(env, head, &CREDENTIALS),
        identity::facts(env, &accepted.facts, accepted.binding),
        replay,
        inquiry,
    )
        .encode(env)
}

/// By what a token is known, and what its issuer is asked about it.
type InquiryPair<'a> = (Term<'a>, ResourceArc<InquiryHandle>);

fn inquiry_pair(env: Env<'_>, inquiry: Inquiry) -> InquiryPair<'_> {
    let digest = binary(env, inquiry.digest().octets());
    (digest, InquiryHandle::new(inquiry))
}

/// Headers that hold credentials.
const CREDENTIALS: [&str; 4] = ["authorization", "client-cert", "cookie", "dpop"];

/// `%BeamMCP.Request{}` without the headers `hidden`.
fn request<'a>(env: Env<'a>, head: &RequestHead, hidden: &[&str]) -> Term<'a> {
    let headers: Vec<(Term<'a>, Term<'a>)> = head
        .headers()
        .filter(|(name, _)| !hidden.contains(name))
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
        (atoms::tls(), tls::facts(env, head.tls())),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}

fn session<'a>(env: Env<'a>, ask: &SessionAsk) -> Term<'a> {
    match ask {
        SessionAsk::Create(session) => (atoms::create(), stored(env, session)).encode(env),
        SessionAsk::Fetch(id) => (atoms::fetch(), &**id).encode(env),
        SessionAsk::SetLogLevel(id, level) => {
            (atoms::set_log_level(), &**id, level.as_str()).encode(env)
        }
        SessionAsk::Subscribe(id, uri) => (atoms::subscribe(), &**id, &**uri).encode(env),
        SessionAsk::Unsubscribe(id, uri) => (atoms::unsubscribe(), &**id, &**uri).encode(env),
        SessionAsk::Delete(id) => (atoms::delete(), &**id).encode(env),
    }
}

/// A session as a store keeps it.
fn stored<'a>(env: Env<'a>, session: &Session) -> Term<'a> {
    let principal = session
        .principal
        .as_ref()
        .map(|principal| binary(env, principal.as_bytes()));
    let uris: Vec<&str> = session.subscriptions.iter().map(|uri| &**uri).collect();
    let members = [
        (
            atoms::client_capabilities(),
            (*session.client_capabilities).encode(env),
        ),
        (atoms::client_info(), (*session.client_info).encode(env)),
        (
            atoms::log_level(),
            session.log_level.map(LogLevel::as_str).encode(env),
        ),
        (atoms::principal(), principal.encode(env)),
        (atoms::revision(), session.revision.as_str().encode(env)),
        (atoms::subscriptions(), uris.encode(env)),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}
