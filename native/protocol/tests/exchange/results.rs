//! What becomes of a handler's result, or of its failure: OUT-*, TOOL-9, TOOL-16, A-17, A-18, X16.

use mcp_protocol::{CallOutcome, Input, Line, ToolResult, Unanswered};
use serde_json::{Value, json};

use crate::harness::{Post, Reply, Server, call, in_every_revision, nothing, structured, text};

#[test]
fn tool9_host_results_are_passed_on() {
    let mut server = Server::new().handling(|_| {
        Input::Outcome(CallOutcome::Tool(ToolResult {
            content: b"[]".into(),
            structured: Some(b"null".into()),
            is_error: false,
            meta: Some(br#"{"com.example/cost":2}"#.into()),
        }))
    });
    let result = server.line(&call("now", json!({}))).result();
    assert_eq!(result["structuredContent"], Value::Null);
    assert!(
        result
            .as_object()
            .unwrap()
            .contains_key("structuredContent"),
        "OUT-2: null is a value"
    );
    assert_eq!(result["content"], json!([]));
    assert_eq!(result["_meta"]["com.example/cost"], json!(2));
    assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());
}

/// OUT-3, A-17: legacy revisions know structured content as objects only.
#[test]
fn a17_other_structured_content_is_modern_alone() {
    for (value, legacy_has_it) in [
        (json!({"a": 1}), true),
        (json!([1]), false),
        (json!("a"), false),
        (Value::Null, false),
    ] {
        let mut server = Server::new().handling({
            let value = value.clone();
            move |_| structured(&value)
        });
        let [modern, r25, r06] = in_every_revision(&mut server, "now", &json!({}));
        assert_eq!(modern.result().get("structuredContent"), Some(&value));
        for legacy in [r25, r06] {
            assert_eq!(
                legacy.result().get("structuredContent").is_some(),
                legacy_has_it,
                "{value}"
            );
            assert_eq!(legacy.text(), value.to_string());
        }
    }
}

/// OUT-1, OUT-6, D13: a result that breaks the tool's own schema never leaves.
#[test]
fn out6_results_are_held_to_the_output_schema() {
    for (tool, value, fault) in [
        ("sum", json!({"sum": 3}), None),
        ("sum", json!({"sum": "three"}), Some("/sum")),
        ("sum", json!({}), Some("output_schema")),
        ("users", json!(["a", "b"]), None),
        ("users", json!(["a", 1]), Some("/1")),
    ] {
        let mut server = Server::new().handling({
            let value = value.clone();
            move |_| structured(&value)
        });
        let reply = server.line(&call(tool, json!({"a": 1, "b": 2})));
        let Some(place) = fault else {
            assert_eq!(reply.result()["structuredContent"], value);
            continue;
        };
        assert_host_fault(&reply, place);
    }
    let mut server = Server::new();
    assert_host_fault(
        &server.line(&call("sum", json!({"a": 1, "b": 2}))),
        "no structured content",
    );
}

/// D5: results over 64 KiB are validated off the thread that serves sockets.
#[test]
fn large_results_are_a_computation() {
    for (user, fault) in [(json!("user"), false), (json!(1), true)] {
        let mut users = vec![json!("user"); 20_000];
        users.push(user);
        let mut server = Server::new().handling(move |_| structured(&json!(users)));
        let reply = server.line(&call("users", json!({})));
        assert_eq!(reply.asked, ["call users {}", "compute"]);
        assert_eq!(reply.result().get("isError").is_some(), fault);
    }
}

#[test]
fn a18_a_tool_error_needs_no_structured_content() {
    let mut server = Server::new().handling(|_| {
        Input::Outcome(CallOutcome::Tool(ToolResult {
            content: br#"[{"type":"text","text":"Out of stock."}]"#.into(),
            is_error: true,
            ..ToolResult::default()
        }))
    });
    let result = server.line(&call("sum", json!({"a": 1, "b": 2}))).result();
    assert_eq!(
        (&result["isError"], &result["content"][0]["text"]),
        (&json!(true), &json!("Out of stock."))
    );
}

/// TOOL-16, D13: one fixed text for whatever the host did wrong, in every revision.
#[test]
fn tool16_host_faults_are_results_with_a_fixed_text() {
    type Fault = fn() -> Input;
    let faults: [Fault; 3] = [
        || Input::Outcome(CallOutcome::Failed),
        || Input::Unanswered(Unanswered::Failed),
        || Input::Unanswered(Unanswered::Deadline),
    ];
    for fault in faults {
        let mut server = Server::new().handling(move |_| fault());
        for reply in in_every_revision(&mut server, "now", &json!({})) {
            assert_eq!(
                (reply.answer.status, reply.text()),
                (200, "The tool failed.".into())
            );
            assert_eq!(reply.result()["isError"], json!(true));
        }
    }
}

#[test]
fn the_deadline_is_told_to_handler_and_log() {
    let mut server = Server::with(|config| config.call_timeout_ms = 750).handling(|call| {
        assert_eq!(call.context.deadline_ms, 1_800_000_000_000 + 40 + 750);
        Input::Unanswered(Unanswered::Deadline)
    });
    server.wait(40);
    let fault = server
        .line(&call("now", json!({})))
        .answer
        .summary
        .host_fault
        .unwrap();
    assert!(
        fault.contains("call_timeout_ms") && fault.contains("750"),
        "{fault}"
    );
}

#[test]
fn an_oversized_result_is_a_host_fault() {
    let mut server =
        Server::with(|config| config.max_result_bytes = 500).handling(|_| text(&"x".repeat(500)));
    assert_host_fault(
        &server.line(&call("now", json!({}))),
        "max_result_bytes (500)",
    );
    let reply = server.post(&Post::request("tools/list"));
    assert_eq!(reply.refusal(), (200, Some(-32603), Some(json!(1))));
    assert!(reply.answer.summary.host_fault.is_some());
}

/// D6: a call in flight keeps the definitions that it started with.
#[test]
fn a_call_outlives_its_catalog() {
    let mut server = Server::new().handling(|_| structured(&json!({"sum": "three"})));
    let line = call("sum", json!({"a": 1, "b": 2})).to_string();
    let pending = server.begin_line(Line::Whole(line.into()));
    let pending = server.until_called(pending);
    server.shared = Server::offering(nothing(), |_| ()).shared;
    assert_eq!(server.line(&call("sum", json!({}))).code(), Some(-32601));
    assert_host_fault(&server.settle(pending), "/sum");
}

fn assert_host_fault(reply: &Reply, place: &str) {
    assert_eq!(
        (reply.answer.status, reply.text()),
        (200, "The tool failed.".into())
    );
    let fault = reply
        .answer
        .summary
        .host_fault
        .as_deref()
        .unwrap_or_default();
    assert!(fault.contains(place), "{fault}");
}
