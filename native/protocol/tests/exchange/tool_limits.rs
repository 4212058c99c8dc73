//! Limits of single tools: how long, how many at once, how often (TOOL-17).

use mcp_protocol::{Input, Line, Rate, ToolDefinition, ToolLimits, Unanswered};
use serde_json::json;

use crate::harness::{Post, Server, call, config, definition};

fn offering(limits: ToolLimits) -> Server {
    let limited = ToolDefinition {
        limits,
        ..definition("limited", None)
    };
    Server::offering([limited, definition("free", None)], |_| ())
}

fn post(tool: &str) -> Post {
    Post::modern(&call(tool, json!({})))
}

#[test]
fn a_tools_own_time_is_the_questions_and_the_handlers() {
    let mut server = offering(ToolLimits {
        timeout_ms: Some(750),
        ..ToolLimits::default()
    });
    for (tool, timeout_ms) in [("limited", 750), ("free", 30_000)] {
        let pending = server.begin(&post(tool));
        let pending = server.until_called(pending);
        assert_eq!(pending.timeout_ms(), timeout_ms);
        let deadline_ms = pending.call().context.deadline_ms;
        assert_eq!(deadline_ms, server.now.wall_ms + timeout_ms);
    }
    let mut late = server.handling(|_| Input::Unanswered(Unanswered::Deadline));
    let fault = late
        .post(&post("limited"))
        .answer
        .summary
        .host_fault
        .unwrap();
    assert!(fault.ends_with("than timeout_ms (750)"), "{fault}");
}

#[test]
fn a_place_is_held_until_the_call_is_dropped() {
    let mut server = offering(ToolLimits {
        max_concurrency: Some(1),
        ..ToolLimits::default()
    });
    let running = server.begin(&post("limited"));
    let running = server.until_called(running);
    let reply = server.post(&post("limited"));
    assert_eq!(reply.refusal(), (503, Some(-31503), Some(json!(1))));
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert!(
        reply.message().contains("The tool limited"),
        "{}",
        reply.message()
    );
    assert_eq!(
        server.line(&call("limited", json!({}))).code(),
        Some(-31503)
    );
    assert_eq!(server.post(&post("free")).text(), "done");
    drop(running);
    assert_eq!(server.post(&post("limited")).text(), "done");
}

#[test]
fn a_rate_says_when_to_come_again() {
    let mut server = offering(ToolLimits {
        rate: Some(Rate {
            count: 2,
            per_ms: 60_000,
        }),
        ..ToolLimits::default()
    });
    for _ in 0..2 {
        assert_eq!(server.post(&post("limited")).text(), "done");
    }
    let reply = server.post(&post("limited"));
    assert_eq!(reply.refusal(), (503, Some(-31503), Some(json!(1))));
    assert_eq!(reply.header("retry-after"), Some("30"));
    server.wait(30_000);
    assert_eq!(server.post(&post("limited")).text(), "done");
    assert_eq!(server.post(&post("limited")).code(), Some(-31503));
}

/// Arguments that never reach the handler take no place and no turn.
#[test]
fn refused_arguments_do_not_count() {
    let schema = json!({"type": "object", "required": ["a"]});
    let limited = ToolDefinition {
        limits: ToolLimits {
            rate: Some(Rate {
                count: 1,
                per_ms: 1_000,
            }),
            max_concurrency: Some(1),
            ..ToolLimits::default()
        },
        ..definition("limited", Some(schema))
    };
    let mut server = Server::offering([limited], |_| ());
    for _ in 0..3 {
        assert!(
            server
                .post(&post("limited"))
                .text()
                .starts_with("Invalid arguments")
        );
    }
    let line = call("limited", json!({"a": 1})).to_string();
    let pending = server.begin_line(Line::Whole(line.into()));
    assert_eq!(server.settle(pending).text(), "done");
}

/// A tool that is put again keeps counting the calls of the one before.
#[test]
fn a_replaced_tool_keeps_its_places() {
    let limits = ToolLimits {
        max_concurrency: Some(1),
        ..ToolLimits::default()
    };
    let mut server = offering(limits);
    let running = server.begin(&post("limited"));
    let running = server.until_called(running);
    let changed = ToolDefinition {
        limits,
        description: Some("Another one".into()),
        ..definition("limited", None)
    };
    server.edit(vec![mcp_protocol::Edit::Put(Box::new(changed.into()))]);
    assert_eq!(server.post(&post("limited")).code(), Some(-31503));
    drop(running);
    assert_eq!(server.post(&post("limited")).text(), "done");
}

#[test]
fn limits_that_no_call_could_keep_are_refused() {
    let rate = |count, per_ms| ToolLimits {
        rate: Some(Rate { count, per_ms }),
        ..ToolLimits::default()
    };
    let no_time = ToolLimits {
        timeout_ms: Some(0),
        ..ToolLimits::default()
    };
    let no_place = ToolLimits {
        max_concurrency: Some(0),
        ..ToolLimits::default()
    };
    for (limits, place) in [
        (no_time, "timeout_ms"),
        (no_place, "max_concurrency"),
        (rate(0, 1), "rate"),
        (rate(1, 0), "rate"),
        (rate(1, u64::MAX), "rate"),
    ] {
        let tool = ToolDefinition {
            limits,
            ..definition("limited", None)
        };
        let faults = mcp_protocol::Catalog::compile([tool], &config()).unwrap_err();
        assert_eq!(faults[0].place, place);
    }
}
