//! Whatever a peer sends, and whatever a driver says in return: no panic, a bounded number of steps, one answer.

use std::sync::{Arc, LazyLock};

use mcp_protocol::{
    Authorized, BodyFault, CallOutcome, Exchange, Input, Line, SessionAnswer, Shared, Step,
    Unanswered,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::harness::{
    META, Pending, Post, Reply, Server, call, legacy, modern, modern_meta, notification, session,
};

/// More than any exchange takes: authorize, body, `authorize_body`, session, catalog, compute, call, compute, cancel.
const MAX_STEPS: usize = 10;

/// Codes that are ours to send.
const CODES: [i64; 9] = [
    -32700, -32600, -32601, -32602, -32603, -32020, -32022, -31503, -31429,
];

/// Asks all there is to ask.
fn guarded() -> Server {
    static SHARED: LazyLock<Arc<Shared>> =
        LazyLock::new(|| Server::with(|config| config.caller_catalog = true).shared);
    let mut server = Server::of(Arc::clone(&SHARED)).at(|endpoint| {
        endpoint.authorize = true;
        endpoint.authorize_body = true;
    });
    server.world.catalog = Box::new(|_| Input::Catalog(Arc::clone(&SHARED.catalog)));
    server.world.sessions.insert("s1".into(), session(None));
    server
}

/// What holds for every answer: a status that fits, and a JSON-RPC error wherever there is an error (VER-8).
fn check(reply: &Reply) {
    let (status, body) = (reply.answer.status, reply.json());
    assert!(reply.asked.len() <= MAX_STEPS, "{:?}", reply.asked);
    if let Some(code) = reply.code() {
        assert!(CODES.contains(&code), "{code}");
        assert!(
            body.get("result").is_none() && body["id"] != Value::Null || body.get("id").is_none()
        );
        assert!(reply.message().len() < 2_000, "{}", reply.message());
    } else {
        assert!(status < 400, "{status} without an error");
    }
}

fn by_http(post: &Post) {
    check(&guarded().post(post));
}

fn by_pipe(line: Vec<u8>) {
    let mut server = guarded();
    for session in [None, Some(session(None))] {
        server.pipe.session = session;
        check(&server.bytes(line.clone()));
        let pending = server.begin_line(Line::TooLong {
            prefix: line.clone().into(),
            limit: line.len(),
        });
        check(&server.settle(pending));
    }
}

/// Messages of every kind, for mutation.
fn seeds() -> Vec<Value> {
    let mut claiming = notification("notifications/cancelled", json!({"requestId": 1}));
    claiming["params"]["_meta"] = modern_meta();
    vec![
        call("route", json!({"region": "eu", "limit": 1})),
        call("sum", json!({"a": 1, "b": -2.5e3})),
        modern("tools/list", json!({"cursor": "AAAA"})),
        modern("server/discover", json!({})),
        legacy(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
        ),
        legacy(
            "tools/call",
            json!({"name": "echo", "arguments": {"text": "\u{1f600}\n"}}),
        ),
        notification("notifications/initialized", json!({})),
        claiming,
        json!({"jsonrpc": "2.0", "id": "a", "result": {}}),
    ]
}

/// One change to a text at a place given in thousandths.
#[derive(Clone, Debug)]
enum Mutation {
    Set(u8),
    Insert(&'static str),
    Delete(usize),
    Repeat(usize),
    Cut,
}

fn mutations() -> impl Strategy<Value = Vec<(usize, Mutation)>> {
    let tokens = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "\"",
        "\\u0000",
        "\\ud800",
        "1e999",
        "-",
        "\u{feff}",
        "\"id\":",
        "\"_meta\":{}",
    ];
    let mutation = prop_oneof![
        any::<u8>().prop_map(Mutation::Set),
        select(tokens.to_vec()).prop_map(Mutation::Insert),
        (1_usize..20).prop_map(Mutation::Delete),
        (1_usize..20).prop_map(Mutation::Repeat),
        Just(Mutation::Cut),
    ];
    vec((0_usize..1_000, mutation), 1..4)
}

fn mutate(text: &mut Vec<u8>, place: usize, mutation: &Mutation) {
    let start = text.len() * place / 1_000;
    let end = |length: usize| (start + length).min(text.len());
    match mutation {
        Mutation::Set(byte) if start < text.len() => text[start] = *byte,
        Mutation::Set(_) => (),
        Mutation::Insert(token) => drop(text.splice(start..start, token.bytes())),
        Mutation::Delete(length) => drop(text.drain(start..end(*length))),
        Mutation::Repeat(length) => {
            let part = text[start..end(*length)].to_vec();
            text.splice(start..start, part);
        }
        Mutation::Cut => text.truncate(start),
    }
}

/// Any JSON value of a modest size.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        select(vec!["2026-07-28", "2025-11-25", "echo", "debug"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            select(vec![
                "_meta",
                "name",
                "arguments",
                "cursor",
                "requestId",
                META[0],
                META[1]
            ])
            .prop_map(str::to_owned),
            ".{0,6}",
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn method() -> impl Strategy<Value = String> {
    let known = [
        "tools/call",
        "tools/list",
        "server/discover",
        "initialize",
        "ping",
        "shutdown",
        "exit",
        "notifications/cancelled",
        "none",
        "",
    ];
    select(known.to_vec()).prop_map(str::to_owned)
}

fn header() -> impl Strategy<Value = Option<Vec<u8>>> {
    let known = [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2024-11-05",
        "1900-01-01",
        "",
        "x",
    ];
    prop_oneof![
        Just(None),
        select(known.to_vec()).prop_map(|version| Some(version.into())),
        vec(any::<u8>(), 0..12).prop_map(Some),
    ]
}

/// What a driver might say, whether or not it fits what was asked.
fn inputs() -> impl Strategy<Value = Vec<usize>> {
    vec(0_usize..12, MAX_STEPS)
}

fn input(choice: usize) -> Input {
    match choice {
        0 => Input::Body(call("echo", json!({"text": "hi"})).to_string().into()),
        1 => Input::BodyFault(BodyFault::Broken),
        2 => Input::Authorized(Authorized::Accept(None)),
        3 => Input::Authorized(Authorized::Deny),
        4 => Input::Session(SessionAnswer::Found(session(None))),
        5 => Input::Session(SessionAnswer::Deleted),
        6 => Input::Session(SessionAnswer::Created("s".into())),
        7 => Input::Outcome(CallOutcome::Failed),
        8 => Input::Done,
        9 => Input::Unanswered(Unanswered::Deadline),
        10 => Input::Unanswered(Unanswered::Cancelled),
        _ => Input::Unanswered(Unanswered::Failed),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_answered(bytes in vec(any::<u8>(), 0..200), modern in any::<bool>()) {
        by_pipe(bytes.clone());
        let post = if modern { Post::request("tools/list") } else { Post::legacy(Some("s1"), &Value::Null) };
        by_http(&post.body(bytes));
    }

    #[test]
    fn mutated_messages_are_answered(seed in select(seeds()), mutations in mutations()) {
        let mut text = seed.to_string().into_bytes();
        for (place, mutation) in &mutations {
            mutate(&mut text, *place, mutation);
        }
        by_pipe(text.clone());
        by_http(&Post::modern(&seed).body(text.clone()));
        by_http(&Post::legacy(Some("s1"), &seed).body(text));
    }

    #[test]
    fn random_params_are_answered(method in method(), params in json_value(), id in json_value()) {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        by_pipe(message.to_string().into_bytes());
        by_http(&Post::modern(&message));
        by_http(&Post::legacy(Some("s1"), &message));
    }

    /// The era decision is total, and depends on nothing but its arguments.
    #[test]
    fn every_header_and_claim_is_decided(header in header(), claim in proptest::option::of(json_value()), method in method(), has_session in any::<bool>()) {
        let mut message = legacy(&method, json!({"name": "now"}));
        if let Some(claim) = claim {
            message["params"]["_meta"] = json!({META[0]: claim, META[1]: {}});
        }
        let mut post = Post::plain(&message).set("Mcp-Method", &method).set("Mcp-Name", "now");
        if let Some(version) = header {
            post = post.set("MCP-Protocol-Version", version);
        }
        if has_session {
            post = post.set("Mcp-Session-Id", "s1");
        }
        let (first, second) = (guarded().post(&post), guarded().post(&post));
        check(&first);
        prop_assert_eq!(&first.answer.body, &second.answer.body);
        prop_assert_eq!(first.asked, second.asked);
    }

    /// A driver that answers the wrong question gets an answer to send all the same, and soon.
    #[test]
    fn confused_drivers_are_answered(seed in select(seeds()), choices in inputs(), head in any::<bool>()) {
        let mut server = guarded();
        let pending = if head {
            server.begin(&Post::modern(&seed))
        } else {
            server.begin_line(Line::Whole(seed.to_string().into()))
        };
        confuse(&server, pending, &choices);
    }
}

fn confuse(server: &Server, pending: Pending, choices: &[usize]) {
    let mut pending = pending;
    for choice in choices {
        if pending.question().is_none() {
            return check(&pending.reply());
        }
        pending = pending.feed(server.now, input(*choice));
    }
    assert!(
        pending.question().is_none(),
        "still asks {:?}",
        pending.question()
    );
}

/// An exchange that is over says so politely, whoever resumes it.
#[test]
fn an_exchange_that_is_over_answers_again() {
    let mut server = Server::new();
    let mut pending = server.begin(&Post::request("none").verb("GET"));
    for _ in 0..3 {
        let step = Exchange::resume(&mut pending.exchange, server.now, Input::Done);
        assert!(matches!(step, Step::Answer(answer) if answer.status == 500));
    }
}
