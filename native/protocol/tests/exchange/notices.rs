//! Messages of a running call: who gets which, and how they stand on the wire (requirements 17 and 18).

use mcp_protocol::{FrameKind, LogLevel, Notice, Notifier, Now, Revision, Unsent};
use serde_json::{Value, json};

use crate::harness::{
    META, Post, Server, amount, asking_for, call, legacy, log, modern, other, progress, said,
    session,
};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

const LEVELS: [LogLevel; 8] = [
    LogLevel::Debug,
    LogLevel::Info,
    LogLevel::Notice,
    LogLevel::Warning,
    LogLevel::Error,
    LogLevel::Critical,
    LogLevel::Alert,
    LogLevel::Emergency,
];

fn at(monotonic_ms: u64) -> Now {
    Now {
        wall_ms: 1_800_000_000_000,
        monotonic_ms,
    }
}

/// The notifier of a call that comes as a line with this in its `_meta`.
fn notifier(meta: &Value) -> Notifier {
    Server::new().notifier(&asking_for(call("now", json!({})), meta))
}

fn posted(post: &Post) -> Notifier {
    let mut server = Server::new();
    let pending = server.begin(post);
    server.until_called(pending).notifier()
}

/// The levels that reach the client.
fn heard(notifier: &mut Notifier) -> Vec<LogLevel> {
    let reaches = |level: &LogLevel| notifier.frame(at(0), log(*level)).unwrap().is_some();
    LEVELS.into_iter().filter(reaches).collect()
}

/// PROG-2
#[test]
fn progress_goes_under_the_clients_token_with_its_type() {
    for token in [
        json!("a\u{e9}\"b"),
        json!(""),
        json!(7),
        json!(-0),
        json!(12_345_678_901_234_567_890_u64),
    ] {
        let mut notifier = notifier(&json!({"progressToken": token}));
        let notice = Notice::Progress {
            progress: amount(1),
            total: Some(amount(2)),
            message: Some("half\n\"way\""),
        };
        let frame = notifier.frame(at(0), notice).unwrap().unwrap();
        assert_eq!(frame.kind, FrameKind::Progress);
        let expected = json!({
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1, "total": 2, "message": "half\n\"way\""},
        });
        assert_eq!(said(&frame), expected);
    }
}

/// PROG-1
#[test]
fn no_token_no_progress() {
    let mut notifier = notifier(&json!({}));
    assert!(notifier.frame(at(0), progress(1.0)).unwrap().is_none());
    assert_eq!(
        notifier.frame(at(0), progress(1.0)).unwrap_err(),
        Unsent::NotIncreasing,
        "the host learns of its fault from any client"
    );
}

/// PROG-3
#[test]
fn progress_increases_strictly() {
    let mut notifier = notifier(&json!({"progressToken": 1}));
    for (value, increases) in [
        (-1.5, true),
        (-1.5, false),
        (0.0, true),
        (-0.0, false),
        (0.25, true),
        (0.1, false),
        (0.250_000_1, true),
        (1e300, true),
        (5.0, false),
    ] {
        let sent = notifier.frame(at(0), progress(value));
        assert_eq!(sent.is_ok(), increases, "{value}");
    }
}

#[test]
fn integers_stay_integers_and_fractions_fractions() {
    let mut notifier = notifier(&json!({"progressToken": 1}));
    for (progress, text) in [
        (mcp_protocol::Amount::Integer(3), r#""progress":3}"#),
        (mcp_protocol::Amount::Float(3.5), r#""progress":3.5}"#),
    ] {
        let notice = Notice::Progress {
            progress,
            total: None,
            message: None,
        };
        let frame = notifier.frame(at(0), notice).unwrap().unwrap();
        let line = String::from_utf8(frame.bytes).unwrap();
        assert!(line.contains(text), "{line}");
    }
}

/// LOG-4
#[test]
fn a_modern_client_that_does_not_ask_for_log_messages_gets_none() {
    assert_eq!(heard(&mut notifier(&json!({}))), []);
    assert_eq!(
        heard(&mut posted(&Post::modern(&call("now", json!({}))))),
        []
    );
}

/// LOG-5
#[test]
fn a_modern_client_hears_what_it_asks_for_and_worse() {
    for (position, level) in LEVELS.into_iter().enumerate() {
        let meta = json!({LOG_LEVEL: level.as_str()});
        let request = asking_for(call("now", json!({})), &meta);
        assert_eq!(heard(&mut notifier(&meta)), LEVELS[position..]);
        assert_eq!(
            heard(&mut posted(&Post::modern(&request))),
            LEVELS[position..]
        );
    }
}

/// LOG-5: the level is that of one request.
#[test]
fn a_level_does_not_outlive_its_request() {
    let mut server = Server::new();
    let meta = json!({LOG_LEVEL: "debug"});
    assert_eq!(
        heard(&mut server.notifier(&asking_for(call("now", json!({})), &meta))),
        LEVELS
    );
    assert_eq!(heard(&mut server.notifier(&call("now", json!({})))), []);
}

/// LOG-6, META-13
#[test]
fn levels_and_tokens_that_are_none_are_refused() {
    for (key, value) in [
        (LOG_LEVEL, json!("Error")),
        (LOG_LEVEL, json!(3)),
        (LOG_LEVEL, Value::Null),
        ("progressToken", json!(1.5)),
        ("progressToken", Value::Null),
        ("progressToken", json!({})),
    ] {
        for method in ["tools/call", "tools/list"] {
            let request = modern(method, json!({"name": "now"}));
            let reply = Server::new().line(&asking_for(request, &json!({key: value})));
            assert_eq!(reply.code(), Some(-32602), "{key}: {value}");
            assert!(reply.message().contains(key), "{}", reply.message());
            assert!(!reply.called());
        }
    }
}

#[test]
fn log_messages_carry_level_logger_and_any_data() {
    for data in [
        "null",
        "true",
        "1.50",
        r#""text""#,
        "[1,[]]",
        r#"{"a":{"b":1}}"#,
    ] {
        let mut notifier = notifier(&json!({LOG_LEVEL: "debug"}));
        let notice = Notice::Log {
            level: LogLevel::Warning,
            logger: Some("disk"),
            data: data.as_bytes(),
        };
        let frame = notifier.frame(at(0), notice).unwrap().unwrap();
        assert_eq!(frame.kind, FrameKind::Log);
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"warning","logger":"disk","data":{data}}}}}"#
        );
        assert_eq!(frame.bytes, line.as_bytes(), "data goes out as it came");
    }
}

/// LOG-8
#[test]
fn a_call_may_write_so_many_log_messages_in_a_second() {
    let mut notifier = notifier(&json!({LOG_LEVEL: "info", "progressToken": 1}));
    let mut write = |now| notifier.frame(at(now), log(LogLevel::Error));
    for _ in 0..200 {
        assert!(write(10_999).is_ok());
    }
    assert_eq!(write(10_999).unwrap_err(), Unsent::TooMany);
    assert!(write(11_000).is_ok(), "the next second has room again");
    assert!(notifier.frame(at(11_000), progress(1.0)).unwrap().is_some());
    assert!(notifier.frame(at(11_000), other()).unwrap().is_some());
}

/// LOG-8: what nobody reads costs nothing.
#[test]
fn log_messages_below_the_level_are_not_counted() {
    let mut notifier = notifier(&json!({LOG_LEVEL: "error"}));
    for _ in 0..1_000 {
        assert!(
            notifier
                .frame(at(0), log(LogLevel::Info))
                .unwrap()
                .is_none()
        );
    }
    assert!(
        notifier
            .frame(at(0), log(LogLevel::Error))
            .unwrap()
            .is_some()
    );
}

#[test]
fn other_notifications_need_no_leave() {
    let mut notifier = notifier(&json!({}));
    let frame = notifier.frame(at(0), other()).unwrap().unwrap();
    assert_eq!(frame.kind, FrameKind::Other);
    let expected = json!({
        "jsonrpc": "2.0",
        "method": "notifications/com.example/ripe",
        "params": {"fruit": "pear"},
    });
    assert_eq!(said(&frame), expected);
    let bare = Notice::Other {
        method: "notifications/bare",
        params: None,
    };
    let frame = notifier.frame(at(0), bare).unwrap().unwrap();
    assert_eq!(
        said(&frame),
        json!({"jsonrpc": "2.0", "method": "notifications/bare"})
    );
}

/// D17
#[test]
fn a_client_that_reads_no_event_streams_gets_no_messages() {
    let meta = json!({LOG_LEVEL: "debug", "progressToken": 1});
    let post = Post::modern(&asking_for(call("now", json!({})), &meta));
    for (accept, reads) in [
        ("application/json", false),
        ("application/json, text/event-stream", true),
        ("text/event-stream", true),
    ] {
        let mut notifier = posted(&post.clone().set("Accept", accept));
        for notice in [progress(1.0), log(LogLevel::Alert), other()] {
            assert_eq!(
                notifier.frame(at(0), notice).unwrap().is_some(),
                reads,
                "{accept}"
            );
        }
    }
}

/// LOG-7: a legacy client that chose no level gets what the server chose; one without a session may say so in `_meta`.
#[test]
fn a_legacy_client_without_a_level_hears_what_the_server_chose() {
    let initialize = legacy(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
    );
    let called = legacy("tools/call", json!({"name": "now", "arguments": {}}));
    let mut server = Server::with(|config| config.log_level = LogLevel::Critical);
    server.line(&initialize);
    assert_eq!(heard(&mut server.notifier(&called)), LEVELS[5..]);

    let mut stateless = call("now", json!({}));
    stateless["params"]["_meta"][META[0]] = json!("2025-11-25");
    assert_eq!(heard(&mut server.notifier(&stateless)), LEVELS[5..]);
    let meta = json!({LOG_LEVEL: "notice"});
    assert_eq!(
        heard(&mut server.notifier(&asking_for(stateless, &meta))),
        LEVELS[2..]
    );
}

#[test]
fn one_event_is_one_line_of_data() {
    let meta = json!({LOG_LEVEL: "debug", "progressToken": "t"});
    let mut notifier = posted(&Post::modern(&asking_for(call("now", json!({})), &meta)));
    let notice = Notice::Progress {
        progress: amount(1),
        total: None,
        message: Some("a\r\nb\n\nevent: c"),
    };
    let frame = notifier.frame(at(0), notice).unwrap().unwrap();
    let text = String::from_utf8(frame.bytes.clone()).unwrap();
    assert!(text.starts_with("event: message\ndata: {") && text.ends_with("}\n\n"));
    assert_eq!(text.matches(['\n', '\r']).count(), 3);
    assert_eq!(said(&frame)["params"]["message"], "a\r\nb\n\nevent: c");
}

/// LHT-11, B-18: the client has to know how to come back, which those of 2025-11-25 with a session do.
#[test]
fn only_a_response_that_can_be_resumed_ends_early() {
    let message = legacy("tools/call", json!({"name": "now"}));
    let in_session = || Post::legacy(Some("s1"), &message);
    let older = in_session().set("MCP-Protocol-Version", "2025-06-18");
    for (revision, post, ends) in [
        (Revision::R20251125, in_session(), true),
        (Revision::R20250618, older, false),
        (
            Revision::R20251125,
            in_session().set("Accept", "application/json"),
            false,
        ),
        (
            Revision::R20251125,
            Post::modern(&call("now", json!({}))),
            false,
        ),
    ] {
        let mut server = Server::new();
        let mut known = session(None);
        known.revision = revision;
        server.world.sessions.insert("s1".into(), known);
        let pending = server.begin(&post);
        let mut pending = server.until_called(pending);
        assert_eq!(pending.resumable().is_some(), ends, "{post:?}");
        let sent = pending.notifier().frame(at(0), Notice::Break);
        match ends {
            true => assert_eq!(sent.unwrap().unwrap().kind, FrameKind::Break),
            false => assert_eq!(sent.unwrap_err(), Unsent::NotResumable),
        }
    }
}

#[test]
fn debug_shows_no_words_of_anybody() {
    let meta = json!({LOG_LEVEL: "debug", "progressToken": "secret-token"});
    let mut notifier = notifier(&meta);
    let frame = notifier.frame(at(0), other()).unwrap().unwrap();
    let shown = format!("{notifier:?} {frame:?}");
    assert!(
        !shown.contains("secret-token") && !shown.contains("pear"),
        "{shown}"
    );
}
