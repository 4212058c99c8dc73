//! `resources/subscribe` and `resources/unsubscribe`: RES-13.

use mcp_protocol::{Input, SessionAnswer};
use serde_json::{Value, json};

use crate::harness::{META, Post, Server, legacy, modern, offering_all, session};

fn subscribe(uri: &str) -> Value {
    legacy("resources/subscribe", json!({"uri": uri}))
}

fn unsubscribe(uri: &str) -> Value {
    legacy("resources/unsubscribe", json!({"uri": uri}))
}

/// The resources that the pipe's session is subscribed to.
fn heard(server: &Server) -> Vec<&str> {
    let session = server.pipe.session.as_ref().unwrap();
    session.subscriptions.iter().map(|uri| &**uri).collect()
}

fn on_a_pipe() -> Server {
    let mut server = offering_all();
    server.pipe.session = Some(session(None));
    server
}

#[test]
fn on_a_pipe_the_session_remembers() {
    let mut server = on_a_pipe();
    for (message, expected) in [
        (subscribe("test://notes"), vec!["test://notes"]),
        (subscribe("test://notes"), vec!["test://notes"]),
        (subscribe("a:part/of"), vec!["a:part/of", "test://notes"]),
        (unsubscribe("test://notes"), vec!["a:part/of"]),
        (unsubscribe("test://unknown"), vec!["a:part/of"]),
    ] {
        assert_eq!(server.line(&message).result(), json!({}));
        assert_eq!(heard(&server), expected);
    }
}

#[test]
fn over_http_the_store_remembers() {
    let mut server = offering_all();
    server.world.sessions.insert("s1".into(), session(None));
    let reply = server.post(&Post::legacy(Some("s1"), &subscribe("test://notes")));
    assert_eq!(reply.result(), json!({}));
    assert_eq!(reply.asked[2], "subscribe session s1 to test://notes");
    assert_eq!(server.world.sessions["s1"].subscriptions.len(), 1);
    let reply = server.post(&Post::legacy(Some("s1"), &unsubscribe("test://notes")));
    assert_eq!(reply.result(), json!({}));
    assert_eq!(server.world.sessions["s1"].subscriptions.len(), 0);
}

#[test]
fn what_is_no_uri_is_refused() {
    for uri in [json!(null), json!(7), json!("no uri"), json!("")] {
        let message = legacy("resources/subscribe", json!({"uri": uri}));
        assert_eq!(on_a_pipe().line(&message).code(), Some(-32602), "{uri}");
    }
}

#[test]
fn a_session_has_so_many_and_no_more() {
    let mut server = on_a_pipe();
    for number in 0..128 {
        let reply = server.line(&subscribe(&format!("a:{number}")));
        assert_eq!(reply.result(), json!({}));
    }
    let reply = server.line(&subscribe("a:128"));
    assert_eq!(reply.code(), Some(-32602));
    assert!(reply.message().contains("128"));
    assert_eq!(heard(&server).len(), 128);

    let mut server = offering_all();
    server.world.sessions.insert("s1".into(), session(None));
    let pending = server.begin(&Post::legacy(Some("s1"), &subscribe("a:b")));
    let pending = server.step(pending);
    let pending = server.step(pending);
    let reply = pending.feed(server.now, Input::Session(SessionAnswer::Full));
    assert_eq!(reply.reply().code(), Some(-32602));
}

#[test]
fn a_session_keeps_so_many_bytes_of_uris() {
    let mut server = on_a_pipe();
    let uri = |number| format!("a:{number:02}{}", "x".repeat(4_092));
    for number in 0..16 {
        let reply = server.line(&subscribe(&uri(number)));
        assert_eq!(reply.result(), json!({}));
    }
    let reply = server.line(&subscribe("a:b"));
    assert_eq!(reply.code(), Some(-32602));
    assert!(reply.message().contains("65536"), "{}", reply.message());
}

/// RES-13: where no resource is offered there is nothing to subscribe to; VER-11: nor in the modern era.
#[test]
fn it_is_unknown_where_it_is_not_advertised() {
    let mut tools_alone = Server::new();
    tools_alone.pipe.session = Some(session(None));
    assert_eq!(tools_alone.line(&subscribe("a:b")).code(), Some(-32601));
    let message = modern("resources/subscribe", json!({"uri": "a:b"}));
    assert_eq!(offering_all().line(&message).code(), Some(-32601));
}

/// A legacy revision that `_meta` names has no session to remember anything.
#[test]
fn without_a_session_it_is_refused() {
    let mut message = modern("resources/subscribe", json!({"uri": "a:b"}));
    message["params"]["_meta"][META[0]] = json!("2025-11-25");
    assert_eq!(offering_all().line(&message).code(), Some(-32600));
}
