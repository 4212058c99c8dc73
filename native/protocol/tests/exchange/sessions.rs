//! Legacy sessions over HTTP beyond the golden transcripts: LHT-40 to LHT-52, X30.

use mcp_protocol::{Input, SessionAnswer, Unanswered};
use serde_json::{Value, json};

use crate::harness::{MAX_CALLS, Post, Server, call, legacy, session};

fn ping() -> Value {
    legacy("ping", json!({}))
}

fn initialize() -> Post {
    let client = json!({"name": "client", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    Post::plain(&legacy("initialize", params))
}

/// A server that knows the session `s1`.
fn server() -> Server {
    let mut server = Server::new();
    server.world.sessions.insert("s1".into(), session(None));
    server
}

#[test]
fn lht40_each_initialize_opens_a_session_of_its_own() {
    let mut server = Server::new();
    for id in ["session-1", "session-2"] {
        let reply = server.post(&initialize());
        assert_eq!(reply.header("mcp-session-id"), Some(id));
        assert_eq!(reply.asked, ["body 1048576", "create session 2025-06-18"]);
        let reply = server.post(&Post::plain(&ping()).set("Mcp-Session-Id", id));
        assert_eq!(
            reply.answer.summary.revision.unwrap().as_str(),
            "2025-06-18"
        );
    }
}

#[test]
fn x30_a_missing_session_is_400_and_an_unknown_one_404() {
    for (post, status) in [
        (Post::legacy(None, &ping()), 400),
        (Post::legacy(Some("unknown"), &ping()), 404),
        (Post::legacy(None, &ping()).verb("DELETE"), 400),
        (Post::legacy(Some("unknown"), &ping()).verb("DELETE"), 404),
    ] {
        let mut server = server();
        let reply = server.post(&post);
        assert_eq!(
            (reply.answer.status, reply.code()),
            (status, Some(-32600)),
            "{post:?}"
        );
        assert_eq!(
            server.world.sessions.len(),
            1,
            "nothing is created or ended"
        );
    }
}

#[test]
fn lht44_delete_ends_the_session_once() {
    let mut server = server();
    let delete = Post::legacy(Some("s1"), &Value::Null)
        .verb("DELETE")
        .body("");
    let reply = server.post(&delete);
    assert_eq!((reply.answer.status, reply.is_silent()), (204, true));
    assert_eq!(
        reply.asked,
        [
            "fetch session s1",
            "delete session s1",
            "cancel in session s1: all"
        ]
    );
    assert_eq!(server.post(&delete).answer.status, 404);
    assert_eq!(
        server
            .post(&Post::legacy(Some("s1"), &ping()))
            .answer
            .status,
        404
    );
}

#[test]
fn lht52_the_version_header_must_be_a_served_legacy_one() {
    for (version, status, code) in [
        ("2025-11-25", 200, None),
        ("2025-06-18", 200, None),
        ("2025-03-26", 400, Some(-32022)),
        ("latest", 400, Some(-32022)),
        ("", 400, Some(-32022)),
        ("2025 11", 400, Some(-32020)),
    ] {
        let post = Post::plain(&ping())
            .set("Mcp-Session-Id", "s1")
            .set("MCP-Protocol-Version", version);
        let reply = server().post(&post);
        assert_eq!(
            (reply.answer.status, reply.code()),
            (status, code),
            "{version:?}"
        );
    }
    let twice = Post::legacy(Some("s1"), &ping()).also("MCP-Protocol-Version", "2025-11-25");
    assert_eq!(
        server().post(&twice).refusal(),
        (400, Some(-32020), Some(json!(1)))
    );
}

#[test]
fn lht41_session_ids_are_visible_short_and_single() {
    let long = "x".repeat(257);
    for id in ["", "a b", "é", long.as_str()] {
        let reply = server().post(&Post::plain(&ping()).set("Mcp-Session-Id", id));
        assert_eq!(
            reply.refusal(),
            (400, Some(-32600), Some(json!(1))),
            "{id:?}"
        );
        assert!(
            id.is_empty() || !reply.message().contains(id),
            "an id is not shown"
        );
        assert_eq!(reply.asked.len(), 1, "no store is asked");
    }
    let twice = Post::legacy(Some("s1"), &ping()).also("Mcp-Session-Id", "s1");
    assert_eq!(server().post(&twice).answer.status, 400);
}

#[test]
fn a_full_or_failing_store_opens_nothing() {
    for (answer, status, code) in [
        (Input::Session(SessionAnswer::Full), 503, -31503),
        (Input::Session(SessionAnswer::Unknown), 503, -32603),
        (Input::Unanswered(Unanswered::Failed), 503, -32603),
        (Input::Unanswered(Unanswered::Deadline), 503, -32603),
    ] {
        let mut server = server();
        let pending = server.begin(&initialize());
        let body = pending.body().clone();
        let pending = pending.feed(server.now, Input::Body(body));
        let reply = pending.feed(server.now, answer).reply();
        assert_eq!(reply.refusal(), (status, Some(code), Some(json!(1))));
        assert!(reply.header("mcp-session-id").is_none());
        assert_eq!(reply.header("retry-after").is_some(), code == -31503);
    }
}

/// DELETE carries no JSON-RPC message: what fails there shows in the status.
#[test]
fn a_delete_that_fails_is_no_success() {
    for (why, status) in [
        (Unanswered::Failed, 503),
        (Unanswered::Deadline, 503),
        (Unanswered::Busy(MAX_CALLS), 503),
    ] {
        for answers_before in 0..2 {
            let mut server = server();
            let mut pending = server.begin(&Post::legacy(Some("s1"), &ping()).verb("DELETE"));
            for _ in 0..answers_before {
                let found = SessionAnswer::Found(session(None));
                pending = pending.feed(server.now, Input::Session(found));
            }
            let reply = pending.feed(server.now, Input::Unanswered(why)).reply();
            assert_eq!((reply.answer.status, reply.keeps()), (status, false));
        }
    }
}

#[test]
fn a_session_does_not_change_a_modern_request() {
    let reply = server().post(&Post::modern(&call("now", json!({}))).set("Mcp-Session-Id", "s1"));
    assert_eq!(reply.asked, ["body 1048576", "call now {}"]);
    assert_eq!(reply.result()["resultType"], json!("complete"));
}

#[test]
fn handlers_know_their_session() {
    let mut server = server()
        .handling(|call| crate::harness::text(call.context.session.as_deref().unwrap_or("none")));
    let message = legacy("tools/call", json!({"name": "now"}));
    assert_eq!(
        server.post(&Post::legacy(Some("s1"), &message)).text(),
        "s1"
    );
    assert_eq!(
        server.post(&Post::modern(&call("now", json!({})))).text(),
        "none"
    );
}

#[test]
fn a_request_without_id_is_refused_in_a_session() {
    let reply = server().post(&Post::legacy(
        Some("s1"),
        &json!({"jsonrpc": "2.0", "method": "tools/call"}),
    ));
    assert_eq!(reply.refusal(), (400, Some(-32600), None));
}
