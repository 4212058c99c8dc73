//! The legacy handshake: LIFE-*, A-20, and what a pipe remembers of it.

use mcp_protocol::Connection;
use serde_json::{Value, json};

use crate::harness::{META, Post, Server, call, legacy, modern, modern_meta, notification};

fn initialize(version: &str) -> Value {
    let client = json!({"name": "client", "version": "1"});
    legacy(
        "initialize",
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}),
    )
}

/// A server whose pipe has a legacy session.
fn initialized(version: &str) -> Server {
    let mut server = Server::new();
    assert_eq!(server.line(&initialize(version)).code(), None);
    server
}

#[test]
fn life3_a_served_version_is_agreed_to_and_kept() {
    for version in ["2025-11-25", "2025-06-18"] {
        let mut server = Server::with(|config| config.instructions = Some("Be brief.".into()));
        let result = server.line(&initialize(version)).result();
        let expected = json!({
            "protocolVersion": version,
            "capabilities": {"logging": {}, "tools": {"listChanged": true}},
            "serverInfo": {"name": "ExampleServer", "version": "1.0.0"},
            "instructions": "Be brief.",
        });
        assert_eq!(result, expected);
        let reply = server.line(&legacy("ping", json!({})));
        assert_eq!(
            reply
                .answer
                .summary
                .revision
                .map(mcp_protocol::Revision::as_str),
            Some(version)
        );
    }
}

#[test]
fn life1_parameters_are_required_and_typed() {
    for (member, value) in [
        ("protocolVersion", Value::Null),
        ("protocolVersion", json!(20_251_125)),
        ("capabilities", Value::Null),
        ("capabilities", json!([])),
        ("clientInfo", Value::Null),
        ("clientInfo", json!({"name": "client"})),
    ] {
        let mut message = initialize("2025-11-25");
        message["params"][member] = value.clone();
        let mut server = Server::new();
        assert_eq!(
            server.line(&message).code(),
            Some(-32602),
            "{member}: {value}"
        );
        assert!(server.pipe.session.is_none());
        let reply = server.post(&Post::plain(&message));
        assert_eq!((reply.answer.status, reply.code()), (200, Some(-32602)));
        assert!(server.world.sessions.is_empty());
    }
    assert_eq!(
        Server::new()
            .line(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}))
            .code(),
        Some(-32602)
    );
}

#[test]
fn life9_x09_ping_is_answered_before_and_after_the_handshake() {
    let ping = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
    for mut server in [
        Server::new(),
        initialized("2025-06-18"),
        initialized("2025-11-25"),
    ] {
        assert_eq!(
            server.line(&ping).json(),
            json!({"jsonrpc": "2.0", "id": 0, "result": {}})
        );
    }
}

#[test]
fn life14_a20_requests_are_served_between_result_and_notification_and_not_before() {
    for method in ["tools/list", "tools/call", "server/discover", "none"] {
        let reply = Server::new().line(&legacy(method, json!({})));
        assert_eq!(reply.code(), Some(-32600), "{method}");
        let reply = Server::new().post(&Post::legacy(None, &legacy(method, json!({}))));
        assert_eq!(
            reply.refusal(),
            (400, Some(-32600), Some(json!(1))),
            "{method}"
        );
    }
    assert_eq!(
        initialized("2025-11-25")
            .line(&legacy("tools/list", json!({})))
            .code(),
        None
    );
}

#[test]
fn life15_a_second_initialize_is_refused_and_the_session_kept() {
    let mut server = initialized("2025-06-18");
    assert_eq!(server.line(&initialize("2025-11-25")).code(), Some(-32600));
    let reply = server.line(&legacy("tools/list", json!({})));
    assert_eq!(
        reply.answer.summary.revision.unwrap().as_str(),
        "2025-06-18"
    );
}

/// An `initialize` that names a legacy revision in `_meta` too is an `initialize` all the same.
#[test]
fn ver5_initialize_with_a_legacy_claim_opens_a_session() {
    let mut message = initialize("2025-06-18");
    message["params"]["_meta"] = json!({META[0]: "2025-11-25"});
    let mut server = Server::new();
    assert_eq!(
        server.line(&message).result()["protocolVersion"],
        json!("2025-06-18")
    );
    assert!(server.pipe.session.is_some());
    let reply = server.post(&Post::plain(&message));
    assert_eq!(reply.result()["protocolVersion"], json!("2025-06-18"));
    assert_eq!(reply.header("mcp-session-id"), Some("session-1"));
}

/// A session's description of its client is decoded for each call, so a large one is an attack.
#[test]
fn life1_a_client_describes_itself_in_bounded_bytes() {
    for member in ["capabilities", "clientInfo"] {
        let mut message = initialize("2025-11-25");
        message["params"][member]["experimental"] = json!("x".repeat(16_384));
        let reply = Server::new().line(&message);
        assert_eq!(reply.code(), Some(-32602));
        assert!(reply.message().contains("16384"), "{}", reply.message());
    }
}

#[test]
fn x08_initialized_needs_no_params() {
    let bare = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut server = initialized("2025-11-25");
    assert!(server.line(&bare).is_silent());
    server.post(&Post::plain(&initialize("2025-11-25")));
    let reply = server.post(&Post::legacy(Some("session-1"), &bare));
    assert_eq!((reply.answer.status, reply.is_silent()), (202, true));
}

#[test]
fn x12_a_cancelled_initialize_is_answered_all_the_same() {
    let mut server = Server::new();
    let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
    assert!(server.line(&cancel).is_silent());
    assert_eq!(
        server.line(&initialize("2025-11-25")).result()["protocolVersion"],
        json!("2025-11-25")
    );
    assert!(server.line(&cancel).is_silent());
    assert!(server.pipe.session.is_some());
}

#[test]
fn ver5_the_session_serves_messages_without_a_claim_only() {
    let mut server = initialized("2025-11-25");
    let reply = server.line(&modern("server/discover", json!({})));
    assert_eq!(reply.result()["resultType"], json!("complete"));
    let claim = legacy("ping", json!({"_meta": {META[0]: "2025-06-18"}}));
    assert_eq!(
        server
            .line(&claim)
            .answer
            .summary
            .revision
            .unwrap()
            .as_str(),
        "2025-06-18"
    );
    assert_eq!(
        server.line(&legacy("server/discover", json!({}))).code(),
        Some(-32601)
    );
}

#[test]
fn legacy_clients_are_told_of_in_the_context() {
    let mut server = initialized("2025-11-25").handling(|call| {
        let info = call
            .context
            .client_info()
            .map_or("nobody", mcp_protocol::Json::raw);
        crate::harness::text(info)
    });
    let reply = server.line(&legacy("tools/call", json!({"name": "now"})));
    assert_eq!(reply.text(), r#"{"name":"client","version":"1"}"#);
}

#[test]
fn shutdown_and_exit_are_served_on_a_pipe_in_both_eras() {
    let mut server = initialized("2025-11-25");
    assert_eq!(
        server.line(&legacy("shutdown", json!({}))).result(),
        json!({})
    );
    assert_eq!(
        Server::new().line(&legacy("shutdown", json!({}))).result(),
        json!({})
    );
    let reply = server.line(&modern("shutdown", json!({})));
    assert_eq!(reply.result()["resultType"], json!("complete"));
    for exit in [
        notification("exit", json!({})),
        notification("exit", json!({"_meta": modern_meta()})),
    ] {
        let reply = server.line(&exit);
        assert!(reply.is_silent());
        assert_eq!(reply.answer.connection, Connection::End);
        assert_eq!(Server::new().line(&exit).answer.connection, Connection::End);
    }
}

#[test]
fn shutdown_and_exit_are_nothing_over_http() {
    let mut server = Server::new();
    server.post(&Post::plain(&initialize("2025-11-25")));
    let reply = server.post(&Post::legacy(
        Some("session-1"),
        &legacy("shutdown", json!({})),
    ));
    assert_eq!((reply.answer.status, reply.code()), (200, Some(-32601)));
    let reply = server.post(&Post::legacy(
        Some("session-1"),
        &notification("exit", json!({})),
    ));
    assert_eq!((reply.answer.status, reply.keeps()), (202, true));
}

#[test]
fn lht8_a_disconnect_cancels_modern_calls_only() {
    let mut server = initialized("2025-11-25");
    server.post(&Post::plain(&initialize("2025-11-25")));
    for (post, survives) in [
        (Post::modern(&call("now", json!({}))), false),
        (
            Post::legacy(
                Some("session-1"),
                &legacy("tools/call", json!({"name": "now"})),
            ),
            true,
        ),
    ] {
        let pending = server.begin(&post);
        assert!(
            !pending.exchange.survives_disconnect(),
            "while the body is read"
        );
        let pending = server.until_called(pending);
        assert_eq!(pending.exchange.survives_disconnect(), survives);
    }
}
