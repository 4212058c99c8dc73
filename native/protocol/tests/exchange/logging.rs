//! `logging/setLevel` (LOG-7): per session over HTTP, per pipe over stdio, and streams (D17).

use mcp_protocol::{Call, Input, LogLevel, Now, SessionAnswer};
use serde_json::{Value, json};

use crate::harness::{META, Post, Server, call, legacy, log, modern, text};

const NOW: Now = Now {
    wall_ms: 0,
    monotonic_ms: 0,
};

fn set_level(level: &Value) -> Value {
    legacy("logging/setLevel", json!({"level": level}))
}

fn initialize(version: &str) -> Value {
    let client = json!({"name": "client", "version": "1"});
    legacy(
        "initialize",
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}),
    )
}

fn called() -> Value {
    legacy("tools/call", json!({"name": "now", "arguments": {}}))
}

/// Whether a message of this level reaches the client.
fn hears(mut notifier: mcp_protocol::Notifier, level: LogLevel) -> bool {
    notifier.frame(NOW, log(level)).unwrap().is_some()
}

fn hears_over_http(server: &mut Server, session: &str, level: LogLevel) -> bool {
    let pending = server.begin(&Post::legacy(Some(session), &called()));
    hears(server.until_called(pending).notifier(), level)
}

#[test]
fn log7_a_pipe_keeps_its_level() {
    for version in ["2025-11-25", "2025-06-18"] {
        let mut server = Server::new();
        server.line(&initialize(version));
        assert!(!hears(server.notifier(&called()), LogLevel::Debug));
        assert_eq!(server.line(&set_level(&json!("debug"))).result(), json!({}));
        assert!(hears(server.notifier(&called()), LogLevel::Debug));
        server.line(&set_level(&json!("emergency")));
        assert!(!hears(server.notifier(&called()), LogLevel::Alert));
        assert!(hears(server.notifier(&called()), LogLevel::Emergency));
    }
}

#[test]
fn log7_a_session_keeps_its_level_and_no_other() {
    let mut server = Server::new();
    for _ in 0..2 {
        server.post(&Post::legacy(None, &initialize("2025-11-25")));
    }
    let reply = server.post(&Post::legacy(
        Some("session-1"),
        &set_level(&json!("error")),
    ));
    assert_eq!((reply.answer.status, reply.result()), (200, json!({})));
    assert!(reply.asked.last().unwrap().contains("session-1 to error"));
    assert!(!hears_over_http(
        &mut server,
        "session-1",
        LogLevel::Warning
    ));
    assert!(hears_over_http(&mut server, "session-1", LogLevel::Error));
    assert!(hears_over_http(&mut server, "session-2", LogLevel::Warning));
}

#[test]
fn log7_a_level_that_is_none_is_refused() {
    for level in [
        json!("loud"),
        json!("Error"),
        json!(""),
        json!(3),
        Value::Null,
        json!({}),
    ] {
        let mut server = Server::new();
        server.line(&initialize("2025-11-25"));
        let reply = server.line(&set_level(&level));
        assert_eq!(reply.code(), Some(-32602), "{level}");
        assert!(reply.message().contains("level"), "{}", reply.message());

        server.post(&Post::legacy(None, &initialize("2025-11-25")));
        let reply = server.post(&Post::legacy(Some("session-1"), &set_level(&level)));
        assert_eq!(reply.code(), Some(-32602), "{level}");
    }
    let mut server = Server::new();
    server.line(&initialize("2025-11-25"));
    let bare = server.line(&legacy("logging/setLevel", json!({})));
    assert_eq!(bare.code(), Some(-32602));
    let unknown = server.line(&set_level(&json!("loud"))).message();
    assert!(unknown.contains("debug, info, notice, warning, error, critical, alert, emergency"));
}

#[test]
fn a_session_that_ended_meanwhile_has_no_level() {
    let mut server = Server::new();
    server.post(&Post::legacy(None, &initialize("2025-11-25")));
    for (answer, status) in [(SessionAnswer::Unknown, 404), (SessionAnswer::Full, 503)] {
        let mut pending =
            server.begin(&Post::legacy(Some("session-1"), &set_level(&json!("info"))));
        while !pending.question().unwrap().starts_with("set log level") {
            pending = server.step(pending);
        }
        let reply = pending.feed(NOW, Input::Session(answer)).reply();
        assert_eq!(reply.answer.status, status);
    }
}

#[test]
fn the_modern_era_has_no_such_method() {
    let request = modern("logging/setLevel", json!({"level": "info"}));
    assert_eq!(Server::new().line(&request).code(), Some(-32601));
    let reply = Server::new().post(&Post::modern(&request));
    assert_eq!(reply.refusal(), (404, Some(-32601), Some(json!(1))));
}

/// a message that stands alone is heard, and changes nothing for others.
#[test]
fn a_message_without_a_session_changes_no_session() {
    let mut server = Server::new();
    server.line(&initialize("2025-11-25"));
    let mut alone = modern("logging/setLevel", json!({"level": "emergency"}));
    alone["params"]["_meta"][META[0]] = json!("2025-11-25");
    assert_eq!(server.line(&alone).result(), json!({}));
    assert!(hears(server.notifier(&called()), LogLevel::Info));
    assert_eq!(server.post(&Post::plain(&alone)).result(), json!({}));
}

/// The level is settled before the next line is read, whoever decides what the catalog holds.
#[test]
fn a_level_waits_for_no_catalog() {
    let mut server = Server::with(|config| config.caller_catalog = true);
    server.line(&initialize("2025-11-25"));
    let reply = server.line(&set_level(&json!("alert")));
    assert_eq!((reply.result(), reply.asked), (json!({}), Vec::new()));
    assert_eq!(
        server.pipe.session.unwrap().log_level,
        Some(LogLevel::Alert)
    );
}

/// D17: when a response has to begin as a stream, by what the client reads.
#[test]
fn d17_when_a_stream_begins() {
    for (accept, after_ms) in [
        ("application/json, text/event-stream", Some(5_000)),
        ("text/event-stream", Some(0)),
        ("application/json", None),
    ] {
        let mut server = Server::new();
        let pending = server.begin(&Post::modern(&call("now", json!({}))).set("Accept", accept));
        assert_eq!(
            pending.exchange.streams_after_ms(),
            None,
            "only a call does"
        );
        let pending = server.until_called(pending);
        assert_eq!(pending.exchange.streams_after_ms(), after_ms, "{accept}");
    }
    let mut server = Server::new();
    let line = call("now", json!({})).to_string();
    let pending = server.begin_line(mcp_protocol::Line::Whole(line.into()));
    assert_eq!(
        server.until_called(pending).exchange.streams_after_ms(),
        None
    );
}

/// HTTP-17, D17: after the head, results and errors alike are events.
#[test]
fn d17_what_follows_the_head_is_events() {
    fn unheard(_: &Call) -> Input {
        panic!("the test answers itself")
    }
    let outcomes = [
        (text("late"), "result"),
        (
            Input::Unanswered(mcp_protocol::Unanswered::Draining),
            "error",
        ),
    ];
    for (outcome, member) in outcomes {
        let mut server = Server::new().handling(unheard);
        let origin = "https://app.example";
        let post = Post::modern(&call("now", json!({}))).set("Origin", origin);
        let pending = server.begin(&post);
        let mut pending = server.until_called(pending);
        let head = pending.exchange.open_stream();
        for expected in [
            ("x-accel-buffering", "no"),
            ("cache-control", "no-cache, no-transform"),
            ("access-control-allow-origin", origin),
        ] {
            assert!(
                head.headers
                    .iter()
                    .any(|(name, value)| (*name, &**value) == expected)
            );
        }
        let reply = pending.feed(NOW, outcome).reply();
        assert_eq!(reply.answer.content_type, "text/event-stream");
        let body = String::from_utf8(reply.answer.body).unwrap();
        let data = body.strip_prefix("event: message\ndata: ").unwrap();
        let message: Value = serde_json::from_str(data.trim_end()).unwrap();
        assert!(
            message.get(member).is_some() && message["id"] == 1,
            "{message}"
        );
    }
}

/// CAN-3: a cancelled request ends without a message, also when its response has begun.
#[test]
fn can3_a_cancelled_stream_ends_with_nothing() {
    let mut server = Server::new();
    let pending = server.begin(&Post::modern(&call("now", json!({}))));
    let mut pending = server.until_called(pending);
    pending.exchange.open_stream();
    let reply = pending
        .feed(NOW, Input::Unanswered(mcp_protocol::Unanswered::Cancelled))
        .reply();
    assert!(reply.is_silent());
}
