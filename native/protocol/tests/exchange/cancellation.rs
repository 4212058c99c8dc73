//! Cancellation: CAN-*, A-8, A-28, A-33, G02, G03.

use mcp_protocol::{Connection, Input, Unanswered};
use serde_json::{Value, json};

use crate::harness::{Post, Server, call, legacy, modern_meta, notification, scope_name, session};

fn cancel(id: &Value) -> Value {
    notification(
        "notifications/cancelled",
        json!({"requestId": id, "reason": "enough"}),
    )
}

/// A server with a legacy session on its pipe and one in its store.
fn server() -> Server {
    let mut server = Server::new();
    server.pipe.session = Some(session(None));
    server.world.sessions.insert("s1".into(), session(None));
    server
}

#[test]
fn g02_g03_ids_are_told_apart_by_type_and_zero_is_one() {
    for (id, name) in [
        (json!(0), "0"),
        (json!("0"), "\"0\""),
        (json!(""), "\"\""),
        (json!("a\n"), "\"a\\n\""),
    ] {
        let reply = server().line(&cancel(&id));
        assert_eq!(reply.asked, [format!("cancel in pipe 1: {name}")]);
        assert!(reply.is_silent());
    }
}

#[test]
fn can2_the_pipe_is_one_scope_for_both_eras() {
    let mut modern = cancel(&json!(7));
    modern["params"]["_meta"] = modern_meta();
    let mut fresh = Server::new();
    for message in [&modern, &cancel(&json!(7))] {
        assert_eq!(server().line(message).asked, ["cancel in pipe 1: 7"]);
        assert_eq!(fresh.line(message).asked, ["cancel in pipe 1: 7"]);
    }
}

#[test]
fn can9_a_session_reaches_its_own_requests_only() {
    let post = Post::legacy(Some("s1"), &cancel(&json!("a")));
    let reply = server().post(&post);
    assert_eq!(
        reply.asked,
        [
            "body 1048576",
            "fetch session s1",
            r#"cancel in session s1: "a""#
        ]
    );
    assert_eq!((reply.answer.status, reply.is_silent()), (202, true));
}

#[test]
fn calls_are_cancelled_where_they_came_from() {
    let mut server = server();
    let legacy_call = legacy("tools/call", json!({"name": "now"}));
    for (scope, pending) in [
        (
            "pipe 1",
            server.begin_line(mcp_protocol::Line::Whole(
                call("now", json!({})).to_string().into(),
            )),
        ),
        (
            "pipe 1",
            server.begin_line(mcp_protocol::Line::Whole(legacy_call.to_string().into())),
        ),
        (
            "session s1",
            server.begin(&Post::legacy(Some("s1"), &legacy_call)),
        ),
        (
            "nowhere",
            server.begin(&Post::modern(&call("now", json!({})))),
        ),
    ] {
        let pending = server.until_called(pending);
        let key = pending
            .call()
            .cancel_key
            .as_ref()
            .map_or("nowhere".into(), |(scope, _)| scope_name(scope));
        assert_eq!(key, scope);
    }
}

/// CAN-4: what names no request is ignored, without a word.
#[test]
fn can4_malformed_cancellations_are_ignored() {
    for params in [
        json!({}),
        json!({"requestId": null}),
        json!({"requestId": 1.5}),
        json!({"requestId": {}}),
        json!({"reason": "?"}),
    ] {
        let reply = server().line(&notification("notifications/cancelled", params.clone()));
        assert!(reply.is_silent() && reply.asked.is_empty(), "{params}");
        let reply = server().post(&Post::legacy(
            Some("s1"),
            &notification("notifications/cancelled", params),
        ));
        assert_eq!((reply.answer.status, reply.asked.len()), (202, 2));
    }
    let bare = json!({"jsonrpc": "2.0", "method": "notifications/cancelled"});
    assert!(server().line(&bare).asked.is_empty());
}

/// CAN-3, A-8: a cancelled request gets no message, whatever the handler says afterwards.
#[test]
fn a8_nothing_is_sent_for_a_cancelled_request() {
    let mut server = server().handling(|_| Input::Unanswered(Unanswered::Cancelled));
    let reply = server.line(&call("now", json!({})));
    assert!(reply.is_silent());
    assert_eq!(reply.answer.connection, Connection::Keep);
    let legacy_call = legacy("tools/call", json!({"name": "now"}));
    assert!(server.line(&legacy_call).is_silent());
    let reply = server.post(&Post::legacy(Some("s1"), &legacy_call));
    assert_eq!(
        (reply.answer.content_type, reply.is_silent()),
        ("text/event-stream", true)
    );
    let json_only = Post::legacy(Some("s1"), &legacy_call).set("Accept", "application/json");
    assert_eq!(
        (
            server.post(&json_only).answer.status,
            server.post(&json_only).is_silent()
        ),
        (202, true)
    );
}

#[test]
fn a33_a_second_request_with_an_id_in_flight_is_refused_under_that_id() {
    let mut server = server().handling(|_| Input::Unanswered(Unanswered::DuplicateId));
    let reply = server.line(&call("now", json!({})));
    assert_eq!(reply.refusal(), (400, Some(-32600), Some(json!(1))));
}
