//! Discovering, listing and calling tools: DISC-*, TOOL-*, A-4, X14, X15, X20, X21, X32.

use mcp_protocol::{Input, ToolDefinition, Unanswered};
use serde_json::{Value, json};

use crate::harness::{
    MAX_CALLS, META, Post, Server, call, definition, in_every_revision, legacy, modern, nothing,
    text,
};

#[test]
fn disc2_discover_tells_versions_capabilities_and_freshness() {
    let mut server = Server::with(|config| {
        config.instructions = Some("Ask for the weather.".into());
        config.cache.discover.ttl_ms = 60_000;
    });
    let result = server.line(&modern("server/discover", json!({}))).result();
    let expected = json!({
        "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18"],
        "capabilities": {"logging": {}, "tools": {"listChanged": true}},
        "instructions": "Ask for the weather.",
        "ttlMs": 60_000,
        "cacheScope": "private",
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "ExampleServer", "version": "1.0.0"}},
    });
    assert_eq!(result, expected);
}

#[test]
fn g20_a_probe_with_unknown_capabilities_is_answered() {
    let mut message = modern("server/discover", json!({}));
    message["id"] = json!("server-discover-probe-1");
    message["params"]["_meta"][META[1]] =
        json!({"elicitation": {}, "roots": {"listChanged": true}});
    let reply = Server::new().post(&Post::modern(&message));
    assert_eq!(reply.json()["id"], json!("server-discover-probe-1"));
    assert_eq!(reply.result()["resultType"], json!("complete"));
}

/// DISC-5, X32: what is not advertised is not served, and nothing is advertised that is not.
#[test]
fn x32_capabilities_are_what_is_served() {
    let mut none = Server::offering(nothing(), |_| ());
    assert_eq!(
        none.line(&modern("server/discover", json!({}))).result()["capabilities"],
        json!({"logging": {}})
    );
    for method in [
        "tools/list",
        "tools/call",
        "resources/subscribe",
        "subscriptions/listen",
    ] {
        let reply = none.post(&Post::request(method).set("Mcp-Name", "x"));
        assert_eq!(
            reply.refusal(),
            (404, Some(-32601), Some(json!(1))),
            "{method}"
        );
    }
}

#[test]
fn rpc7_x15_result_type_is_modern_alone() {
    let mut server = Server::new();
    for message in [
        modern("server/discover", json!({})),
        modern("tools/list", json!({})),
        call("now", json!({})),
        modern("shutdown", json!({})),
    ] {
        let result = server.line(&message).result();
        assert_eq!(result["resultType"], json!("complete"), "{message}");
        assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());
    }
    for method in ["ping", "tools/list", "tools/call"] {
        let message = legacy(
            method,
            json!({"name": "now", "_meta": {META[0]: "2025-11-25"}}),
        );
        let result = server.line(&message).result();
        for member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert!(result.get(member).is_none(), "{method}: {member}");
        }
    }
}

#[test]
fn tool6_entries_hold_what_their_revision_knows() {
    let full = ToolDefinition {
        title: Some("A tool".into()),
        output_schema: Some(json!({"type": "array"})),
        annotations: Some(json!({"readOnlyHint": true})),
        icons: Some(json!([{"src": "https://example.com/icon.png"}])),
        meta: Some(json!({"com.example/rank": 1})),
        ..definition("full", None)
    };
    let mut server = Server::offering(vec![full], |_| ());
    for (version, output_schema, icons) in [
        ("2026-07-28", true, true),
        ("2025-11-25", false, true),
        ("2025-06-18", false, false),
    ] {
        let mut message = modern("tools/list", json!({}));
        message["params"]["_meta"][META[0]] = json!(version);
        let tool = server.line(&message).result()["tools"][0].take();
        assert_eq!(
            tool.get("outputSchema").is_some(),
            output_schema,
            "{version}, A-17"
        );
        assert_eq!(tool.get("icons").is_some(), icons, "{version}");
        assert_eq!(tool["inputSchema"], json!({"type": "object"}));
        assert_eq!(
            (&tool["title"], &tool["_meta"]),
            (&json!("A tool"), &json!({"com.example/rank": 1}))
        );
    }
}

#[test]
fn tool13_an_unknown_tool_is_a_protocol_error_in_every_revision() {
    for name in ["none", "Echo", "echo\n", "", "x\u{0}"] {
        for reply in in_every_revision(&mut Server::new(), name, &json!({})) {
            assert_eq!(reply.code(), Some(-32602), "{name:?}");
        }
    }
}

#[test]
fn x14_arguments_are_an_object_or_absent() {
    let mut server = Server::new().handling(|call| {
        assert!(call.arguments.is_none());
        text("no arguments")
    });
    let absent = modern("tools/call", json!({"name": "now"}));
    assert_eq!(server.line(&absent).text(), "no arguments");
    for arguments in [Value::Null, json!([]), json!("{}"), json!(1)] {
        let reply = server.post(&Post::modern(&call("now", arguments.clone())));
        assert_eq!(
            reply.refusal(),
            (200, Some(-32602), Some(json!(1))),
            "{arguments}"
        );
    }
    for params in [json!({}), json!({"name": 7}), json!({"name": null})] {
        assert_eq!(
            server.line(&modern("tools/call", params)).code(),
            Some(-32602)
        );
    }
}

#[test]
fn a_tool_without_input_schema_gets_no_arguments() {
    let reply = Server::new().line(&call("now", json!({"sent": "anyway"})));
    assert_eq!(reply.asked, ["call now {}"]);
}

/// A-4, TOOL-15: bad arguments are the tool's error in every revision, told so that a model can mend them.
#[test]
fn a4_invalid_arguments_are_a_result() {
    for reply in in_every_revision(&mut Server::new(), "sum", &json!({"a": "one"})) {
        assert_eq!(reply.answer.status, 200);
        assert_eq!(reply.result()["isError"], json!(true));
        assert!(
            reply.text().contains("/a") && reply.text().contains('b'),
            "{}",
            reply.text()
        );
        assert!(!reply.called());
    }
    let reply = Server::new().line(&modern("tools/call", json!({"name": "echo"})));
    assert!(
        reply.text().contains("text"),
        "absent arguments are an empty object: {}",
        reply.text()
    );
}

#[test]
fn tool20_the_task_parameter_of_an_older_revision_is_ignored() {
    let message = modern("tools/call", json!({"name": "now", "task": {"ttl": 1}}));
    assert_eq!(Server::new().line(&message).text(), "done");
}

/// D5: arguments over 64 KiB are validated off the thread that serves sockets.
#[test]
fn large_arguments_are_a_computation() {
    let text = "x".repeat(65 * 1_024);
    let reply = Server::new().line(&call("echo", json!({"text": text})));
    assert_eq!(reply.asked[0], "compute");
    assert_eq!(reply.text(), "done");
    let reply = Server::new().line(&call("echo", json!({"other": text})));
    assert_eq!(
        (reply.asked.as_slice(), reply.result()["isError"].take()),
        (["compute".to_owned()].as_slice(), json!(true))
    );
}

#[test]
fn busy_servers_say_when_to_come_back() {
    for (why, status, code) in [
        (Unanswered::Busy(MAX_CALLS), 503, -31503),
        (Unanswered::Draining, 503, -31503),
        (Unanswered::PrincipalBusy(MAX_CALLS), 429, -31429),
        (Unanswered::DuplicateId, 400, -32600),
    ] {
        let mut server = Server::new().handling(move |_| Input::Unanswered(why));
        let reply = server.post(&Post::modern(&call("now", json!({}))));
        assert_eq!(
            reply.refusal(),
            (status, Some(code), Some(json!(1))),
            "{why:?}"
        );
        assert_eq!(reply.header("retry-after").is_some(), status != 400);
        let names_limit = matches!(why, Unanswered::Busy(_) | Unanswered::PrincipalBusy(_));
        assert_eq!(
            reply.message().contains("max_calls (7)"),
            names_limit,
            "{why:?}"
        );
        assert!(reply.keeps());
        assert_eq!(server.line(&call("now", json!({}))).code(), Some(code));
    }
}

#[test]
fn x20_each_schema_by_its_own_dialect() {
    let tuple = |keyword: &str, rest: &str| json!({"type": "object", "properties": {"pair": {keyword: [{"type": "string"}, {"type": "integer"}], rest: false}}});
    let mut draft7 = tuple("items", "additionalItems");
    draft7["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    for schema in [draft7, tuple("prefixItems", "items")] {
        let mut server = with_schema(schema);
        assert_eq!(
            server.line(&call("tool", json!({"pair": ["a", 1]}))).text(),
            "done"
        );
        for pair in [json!([1, "a"]), json!(["a", 1, 2])] {
            assert!(!server.line(&call("tool", json!({"pair": pair}))).called());
        }
    }
}

#[test]
fn x21_union_types_take_null_and_nullable_is_a_remark() {
    let mut server = with_schema(json!({"type": "object", "properties": {
        "union": {"type": ["number", "null"]},
        "remark": {"type": "string", "nullable": true},
    }}));
    assert!(server.line(&call("tool", json!({"union": null}))).called());
    assert!(!server.line(&call("tool", json!({"union": "1"}))).called());
    assert!(!server.line(&call("tool", json!({"remark": null}))).called());
}

fn with_schema(schema: Value) -> Server {
    Server::offering(vec![definition("tool", Some(schema))], |_| ())
}
