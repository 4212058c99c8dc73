//! `subscriptions/listen` (requirements 20).

use std::sync::Arc;

use mcp_protocol::{
    Authorized, Change, Config, EventId, Input, Line, Listing, Owner, Permission, PermitAsk, Step,
    StreamKind, Unanswered,
};
use serde_json::{Value, json};

use crate::harness::{
    MAX_CALLS, Pending, Post, Server, admitted, identity, modern, nothing, offering_all, resource,
    said_bytes, tools,
};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(notifications: Value) -> Value {
    modern(
        "subscriptions/listen",
        json!({"notifications": notifications}),
    )
}

fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["test://notes", "test://notes", "test://logo"],
    })
}

fn nowhere() -> EventId {
    EventId {
        kind: StreamKind::Get,
        stream: "".into(),
        number: 0,
    }
}

/// The stream that answers a request over HTTP.
fn posted(server: &mut Server, message: &Value) -> Pending {
    let pending = server.begin(&Post::modern(message));
    server.until_listening(pending)
}

fn acknowledged(pending: &Pending) -> Value {
    let opening = pending.subscription().opening(&nowhere());
    said_bytes(&opening.expect("a listen stream is acknowledged"))
}

/// SUB-3, SUB-4, SUB-5
#[test]
fn the_acknowledgement_names_what_is_honoured() {
    let all = acknowledged(&posted(&mut offering_all(), &listen(everything())));
    assert_eq!(all["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        all["params"]["notifications"],
        json!({
            "toolsListChanged": true,
            "resourcesListChanged": true,
            "promptsListChanged": true,
            "resourceSubscriptions": ["test://logo", "test://notes"],
        })
    );
    let tools_alone = acknowledged(&posted(&mut Server::new(), &listen(everything())));
    assert_eq!(
        tools_alone["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    for unasked in [json!({}), json!({"toolsListChanged": false, "later": 1})] {
        let none = acknowledged(&posted(&mut Server::new(), &listen(unasked)));
        assert_eq!(none["params"]["notifications"], json!({}), "A-7");
    }
}

/// META-11, A-26: under the very bytes of the request's id.
#[test]
fn everything_carries_the_id_as_it_was_written() {
    for id in ["0", "\"\"", "\"\\u0061\"", "-0", "12345678901234567890123"] {
        let mut server = offering_all();
        let text = listen(everything()).to_string();
        let text = text.replace("\"id\":1", &format!("\"id\":{id}"));
        let pending = server.begin_line(Line::Whole(text.into_bytes().into()));
        let subscription = pending.subscription();
        let change = Change::resource("test://notes").unwrap();
        let list = Change::List(Listing::Tools);
        let messages = [
            subscription.opening(&nowhere()).unwrap(),
            subscription.tell(&change, &nowhere()),
            subscription.tell(&list, &nowhere()),
            server.settle(pending).answer.body,
        ];
        for message in messages {
            let message = String::from_utf8(message).unwrap();
            assert!(message.contains(&format!("\"{ID}\":{id}")), "{message}");
        }
    }
}

/// SUB-2, and the bounds of SUB-17.
#[test]
fn a_malformed_filter_is_refused_by_name() {
    let many: Vec<String> = (0..129).map(|number| format!("test://{number}")).collect();
    let long = format!("test://{}", "x".repeat(4_090));
    for (params, named) in [
        (json!({}), "params.notifications"),
        (json!({"notifications": []}), "params.notifications"),
        (
            json!({"notifications": {"toolsListChanged": 1}}),
            "params.notifications.toolsListChanged",
        ),
        (
            json!({"notifications": {"resourceSubscriptions": "test://notes"}}),
            "resourceSubscriptions\" must be an array",
        ),
        (
            json!({"notifications": {"resourceSubscriptions": ["test://notes", 1]}}),
            "resourceSubscriptions[1]",
        ),
        (
            json!({"notifications": {"resourceSubscriptions": ["no uri"]}}),
            "resourceSubscriptions[0]",
        ),
        (
            json!({"notifications": {"resourceSubscriptions": [long]}}),
            "at most 4096",
        ),
        (
            json!({"notifications": {"resourceSubscriptions": many}}),
            "more than 128",
        ),
    ] {
        let reply = offering_all().post(&Post::modern(&modern("subscriptions/listen", params)));
        assert_eq!((reply.answer.status, reply.code()), (200, Some(-32602)));
        assert!(reply.message().contains(named), "{}", reply.message());
    }
}

#[test]
fn so_many_resources_are_no_more_for_being_named_twice() {
    let uris: Vec<String> = (0..128).map(|number| format!("test://{number}")).collect();
    let doubled: Vec<&String> = uris.iter().chain(&uris).collect();
    let message = listen(json!({"resourceSubscriptions": doubled}));
    let pending = posted(&mut offering_all(), &message);
    assert_eq!(pending.subscription().filter.uris.len(), 128);
}

/// They are kept for as long as the stream is open.
#[test]
fn resources_take_so_many_bytes_together() {
    let uris = |count: usize| -> Vec<String> {
        let uri = |number| format!("test://{number:03}{}", "x".repeat(4_096 - 10));
        (0..count).map(uri).collect()
    };
    let fits = listen(json!({"resourceSubscriptions": uris(16)}));
    let pending = posted(&mut offering_all(), &fits);
    assert_eq!(pending.subscription().filter.uris.len(), 16);
    let message = listen(json!({"resourceSubscriptions": uris(17)}));
    let reply = offering_all().post(&Post::modern(&message));
    assert_eq!(reply.code(), Some(-32602));
    assert!(reply.message().contains("65536"), "{}", reply.message());
}

/// SUB-16, A-7
#[test]
fn there_is_nothing_to_listen_to_where_nothing_is_offered() {
    let mut server = Server::offering(nothing(), |_| ());
    let reply = server.post(&Post::modern(&listen(json!({}))));
    assert_eq!((reply.answer.status, reply.code()), (404, Some(-32601)));
}

/// SUB-7, A-11
#[test]
fn over_http_it_is_an_event_stream_or_nothing() {
    let post = Post::modern(&listen(json!({}))).set("Accept", "application/json");
    let reply = Server::new().post(&post);
    assert_eq!((reply.answer.status, reply.code()), (406, Some(-32600)));
    let pending = posted(
        &mut Server::new(),
        &listen(json!({"toolsListChanged": true})),
    );
    let subscription = pending.subscription();
    let told = subscription.tell(&Change::List(Listing::Tools), &nowhere());
    assert!(told.starts_with(b"event: message\ndata: {") && told.ends_with(b"}\n\n"));
    assert!(!subscription.is_resumable(), "HTTP-19");
    assert_eq!(subscription.owner, Owner::Connection);
    assert_eq!(subscription.farewell(), None, "A-6");
}

/// SUB-14, SUB-15, A-6
#[test]
fn the_server_ends_it_with_a_result_and_on_a_pipe_with_a_sign_too() {
    let mut server = Server::new();
    let pending = server.begin_line(Line::Whole(listen(json!({})).to_string().into()));
    let farewell = pending.subscription().farewell();
    let farewell: Value = serde_json::from_slice(&farewell.unwrap()).unwrap();
    assert_eq!(farewell["method"], "notifications/cancelled");
    assert_eq!(farewell["params"]["requestId"], 1);
    let reply = server.settle(pending);
    assert_eq!(reply.result()["resultType"], "complete");
    assert_eq!(reply.result()["_meta"][ID], 1);
}

/// SUB-17: before the acknowledgement.
#[test]
fn without_room_it_is_refused() {
    for why in [
        Unanswered::Busy(MAX_CALLS),
        Unanswered::PrincipalBusy(MAX_CALLS),
    ] {
        let mut server = Server::new();
        let pending = posted(&mut server, &listen(json!({})));
        let reply = pending.feed(server.now, Input::Unanswered(why)).reply();
        assert_eq!((reply.answer.status, reply.code()), (200, Some(-32603)));
        assert!(reply.message().contains("max_calls (7)"));
    }
    let mut server = Server::new();
    let pending = posted(&mut server, &listen(json!({})));
    let reply = pending.feed(server.now, Input::Unanswered(Unanswered::DuplicateId));
    assert_eq!(reply.reply().code(), Some(-32600), "A-33");
}

/// B-6: rights that were taken away end the stream before the next change.
#[test]
fn each_delivery_is_authorized_again() {
    let mut server = Server::new().at(|endpoint| endpoint.authorize = true);
    let accept = |name: &'static str| {
        Box::new(move |_: &_| Input::Authorized(Authorized::Accept(Some(identity(name)))))
    };
    server.world.authorize = accept("ann");
    let pending = posted(&mut server, &listen(json!({"toolsListChanged": true})));
    let pending = pending.recheck(&mut server);
    assert_eq!(pending.question(), Some("deliver Now"));

    server.world.authorize = Box::new(|_| Input::Unanswered(Unanswered::Busy(MAX_CALLS)));
    let pending = pending.recheck(&mut server);
    assert_eq!(pending.question(), Some("deliver Later"));

    server.world.authorize = accept("bob");
    let reply = pending.recheck(&mut server).reply();
    assert_eq!(reply.answer.status, 200);
    assert_eq!(said_bytes(&reply.answer.body)["result"]["_meta"][ID], 1);
}

/// D6: a stream that is open for days keeps no old catalog alive.
#[test]
fn it_lets_go_of_the_catalog() {
    let mut server = Server::offering(tools(), |_: &mut Config| ());
    let pending = posted(&mut server, &listen(json!({"toolsListChanged": true})));
    let catalog = Arc::downgrade(&server.shared.catalog);
    server.edit(Vec::new());
    assert!(catalog.upgrade().is_none());
    assert!(matches!(pending.step, Step::Listen(_)));
}

#[test]
fn a_cancellation_finds_it_by_its_id_on_its_pipe() {
    let mut server = Server::new();
    let message = listen(json!({}));
    let pending = server.begin_line(Line::Whole(message.to_string().into()));
    assert!(pending.exchange.cancel_id().is_some());
    assert!(matches!(pending.subscription().owner, Owner::Request(..)));
}

/// Of more resources than a subscription may name, none is looked up; one that is named again does not count.
#[test]
fn resources_are_judged_as_far_as_they_may_be_named() {
    let mut secret = resource("test://secret");
    secret.access.required_scopes = vec!["secret.read".into()];
    let mut server = Server::offering([secret], |_| ()).at(|endpoint| endpoint.authorize = true);
    server.world.authorize = Box::new(|_| admitted("ann", &["mcp:resources:read"]));
    let mut answered = |mut uris: Vec<String>| {
        uris.push("test://secret".into());
        let message = listen(json!({"resourceSubscriptions": uris}));
        server.post(&Post::modern(&message)).code()
    };
    let different = |count: usize| (0..count).map(|number| format!("test://{number}"));
    assert_eq!(answered(different(127).collect()), Some(-31403));
    assert_eq!(answered(different(129).collect()), Some(-32602));
    assert_eq!(answered(vec!["test://open".into(); 200]), Some(-31403));
}

/// A stream may last for days: of its request it keeps what the host is told of its client.
#[test]
fn a_stream_keeps_no_more_of_its_request_than_a_session_would() {
    let change = |config: &mut Config| config.scopes.authorizes_definitions = true;
    let mut server = Server::offering([resource("test://open")], change);
    let padded = |kept: &str| {
        let mut message = listen(json!({"resourceSubscriptions": ["test://open"]}));
        message["params"]["padding"] = json!("a".repeat(60_000));
        message["params"]["_meta"]["example.com/kept"] = json!(kept);
        message
    };
    let pending = posted(&mut server, &padded("yes"));
    server.world.permit = Box::new(|ask: &PermitAsk| {
        let kept = ask.context.meta_value("example.com/kept").unwrap();
        assert_eq!(kept.raw(), r#""yes""#);
        assert!(ask.context.message().bytes().len() < 1_000);
        Input::Permission(Permission::Permitted)
    });
    let change = Change::resource("test://open").unwrap();
    let pending = pending.permit_change(&mut server, &change);
    assert_eq!(pending.question(), Some("deliver Now"));

    let reply = server.post(&Post::modern(&padded(&"b".repeat(16_384))));
    assert_eq!(reply.code(), Some(-32602));
}
