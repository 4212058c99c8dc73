//! Which revision serves a message: VER-*, META-*, step 7 of table 0.7, readings A-1, A-2, A-25, A-29, A-30.

use mcp_protocol::Revision;
use serde_json::{Value, json};

use crate::harness::{META, Post, Server, call, legacy, modern, modern_meta, notification, text};

const MODERN: &str = "2026-07-28";

/// A `server/discover` with this header and this claim.
fn discover(header: Option<&str>, claim: Option<&str>) -> Post {
    let post = Post::request("server/discover")
        .without("MCP-Protocol-Version")
        .edit(|message| match claim {
            Some(version) => message["params"]["_meta"][META[0]] = json!(version),
            None => message["params"] = json!({}),
        });
    match header {
        Some(version) => post.set("MCP-Protocol-Version", version),
        None => post,
    }
}

/// A-2: the table of header against claim.
#[test]
fn a2_precedence_of_missing_meta_header_and_version() {
    for (header, claim, status, code) in [
        (Some(MODERN), Some(MODERN), 200, None),
        (Some(MODERN), None, 400, Some(-32602)),
        (None, Some(MODERN), 400, Some(-32020)),
        (Some("2025-11-25"), Some(MODERN), 400, Some(-32020)),
        (Some(MODERN), Some("2025-11-25"), 400, Some(-32020)),
        (Some(MODERN), Some("1900-01-01"), 400, Some(-32020)),
        (Some("1900-01-01"), Some("1900-01-01"), 400, Some(-32022)),
        (None, Some("1900-01-01"), 400, Some(-32020)),
        (None, None, 400, Some(-32600)),
        (Some("2025-11-25"), None, 400, Some(-32600)),
        (Some("1900-01-01"), None, 400, Some(-32022)),
    ] {
        let reply = Server::new().post(&discover(header, claim));
        assert_eq!(
            (reply.answer.status, reply.code()),
            (status, code),
            "{header:?} {claim:?}"
        );
        assert_eq!(reply.json()["id"], json!(1));
    }
}

#[test]
fn a2_mcp_method_counts_once_the_version_is_right() {
    let reply = Server::new().post(&discover(Some(MODERN), Some(MODERN)).without("Mcp-Method"));
    assert_eq!(reply.refusal(), (400, Some(-32020), Some(json!(1))));
}

#[test]
fn ver3_an_unserved_version_names_the_served_ones() {
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"][META[0]] = json!("1900-01-01");
    let data =
        json!({"supported": ["2026-07-28", "2025-11-25", "2025-06-18"], "requested": "1900-01-01"});
    let mut server = Server::new();
    for reply in [
        server.line(&message),
        server.post(&Post::modern(&message).set("MCP-Protocol-Version", "1900-01-01")),
    ] {
        assert_eq!(reply.code(), Some(-32022));
        assert_eq!(reply.json()["error"]["data"], data);
    }
}

#[test]
fn ver3_a_hostile_version_is_shown_shortened() {
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"][META[0]] = json!("9".repeat(100_000));
    let reply = Server::new().line(&message);
    assert_eq!(reply.code(), Some(-32022));
    assert!(reply.answer.body.len() < 1_000);
}

#[test]
fn disc7_the_versions_of_an_error_are_those_of_discover() {
    let mut server = Server::new();
    let mut message = modern("server/discover", json!({}));
    let supported = server.line(&message).result()["supportedVersions"].take();
    message["params"]["_meta"][META[0]] = json!("1900-01-01");
    assert_eq!(
        server.line(&message).json()["error"]["data"]["supported"],
        supported
    );
}

/// A-1: a listed legacy revision may be claimed; it is served statelessly by that revision's rules.
#[test]
fn a1_a_claimed_legacy_revision_is_served_without_a_session() {
    for revision in [Revision::R20251125, Revision::R20250618] {
        let mut message = call("echo", json!({"text": "hi"}));
        message["params"]["_meta"] = json!({META[0]: revision.as_str()});
        let mut server = Server::new();
        let by_header = Post::plain(&message).set("MCP-Protocol-Version", revision.as_str());
        for reply in [
            server.line(&message),
            server.post(&by_header),
            server.post(&Post::plain(&message)),
        ] {
            assert_eq!(reply.answer.summary.revision, Some(revision));
            assert_eq!(
                reply.result(),
                json!({"content": [{"type": "text", "text": "done"}]})
            );
        }
        let wrong = Post::plain(&message).set("MCP-Protocol-Version", MODERN);
        assert_eq!(server.post(&wrong).code(), Some(-32020));
        message["method"] = json!("server/discover");
        let reply = server.post(&Post::plain(&message));
        assert_eq!((reply.answer.status, reply.code()), (200, Some(-32601)));
    }
}

#[test]
fn a1_a_legacy_claim_needs_no_capabilities_but_well_typed_ones() {
    for (capabilities, said) in [
        (None, Some("{}")),
        (Some(json!({"roots": {}})), Some(r#"{"roots":{}}"#)),
        (Some(json!([])), None),
    ] {
        let mut server =
            Server::new().handling(|call| text(call.context.client_capabilities().raw()));
        let mut message = call("now", json!({}));
        message["params"]["_meta"] = json!({META[0]: "2025-11-25"});
        if let Some(capabilities) = capabilities {
            message["params"]["_meta"][META[1]] = capabilities;
        }
        let reply = server.line(&message);
        match said {
            Some(said) => assert_eq!(reply.text(), said),
            None => assert_eq!(reply.code(), Some(-32602)),
        }
    }
}

#[test]
fn ver11_removed_methods_are_unknown_to_modern_requests() {
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/list",
        "tasks/result",
    ] {
        let mut server = Server::new();
        let reply = server.post(&Post::request(method));
        assert_eq!(
            reply.refusal(),
            (404, Some(-32601), Some(json!(1))),
            "{method}"
        );
        let reply = server.line(&modern(method, json!({})));
        assert_eq!(reply.code(), Some(-32601), "{method}");
        assert!(server.pipe.session.is_none());
    }
}

#[test]
fn http24_an_unknown_method_is_404_with_a_body() {
    for method in [
        "resources/list",
        "prompts/get",
        "completion/complete",
        "tasks/get",
        "shutdown",
        "none",
        "",
    ] {
        let reply = Server::new().post(&Post::request(method));
        assert_eq!(
            reply.refusal(),
            (404, Some(-32601), Some(json!(1))),
            "{method}"
        );
    }
}

/// META-4, A-30: what every modern request must state.
#[test]
fn meta4_required_keys_are_checked_on_every_method() {
    type Change = fn(&mut Value);
    let missing: [(&str, Change); 7] = [
        ("no params", |message| {
            message.as_object_mut().unwrap().remove("params");
        }),
        ("no _meta", |message| message["params"] = json!({})),
        ("no version", |message| {
            message["params"]["_meta"] = json!({META[1]: {}});
        }),
        ("no capabilities", |message| {
            message["params"]["_meta"] = json!({META[0]: MODERN});
        }),
        ("version no string", |message| {
            message["params"]["_meta"][META[0]] = json!(20_260_728);
        }),
        ("capabilities no object", |message| {
            message["params"]["_meta"][META[1]] = json!([]);
        }),
        ("_meta no object", |message| {
            message["params"]["_meta"] = json!("2026-07-28");
        }),
    ];
    for method in [
        "server/discover",
        "tools/list",
        "tools/call",
        "subscriptions/listen",
        "none",
    ] {
        for (what, change) in missing {
            let reply = Server::new().post(&Post::request(method).edit(change));
            assert_eq!(
                reply.refusal(),
                (400, Some(-32602), Some(json!(1))),
                "{method}: {what}"
            );
        }
    }
}

#[test]
fn meta5_client_info_is_optional_and_typed() {
    for (info, code) in [
        (json!({"name": "a", "version": "1"}), None),
        (json!({"name": "a", "version": "1", "more": [1]}), None),
        (json!({"name": "a"}), Some(-32602)),
        (json!({"name": "a", "version": 1}), Some(-32602)),
        (json!("a"), Some(-32602)),
        (Value::Null, Some(-32602)),
    ] {
        let mut message = modern("tools/list", json!({}));
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info.clone();
        assert_eq!(Server::new().line(&message).code(), code, "{info}");
    }
}

#[test]
fn meta13_progress_tokens_are_strings_or_integers() {
    for (token, code) in [
        (json!(0), None),
        (json!("t"), None),
        (json!(""), None),
        (json!(1.5), Some(-32602)),
        (json!(true), Some(-32602)),
        (Value::Null, Some(-32602)),
        (json!({}), Some(-32602)),
    ] {
        let mut message = call("now", json!({}));
        message["params"]["_meta"]["progressToken"] = token.clone();
        let reply = Server::new().post(&Post::modern(&message));
        assert_eq!((reply.answer.status, reply.code()), (200, code), "{token}");
        let mut message = legacy(
            "tools/call",
            json!({"name": "now", "_meta": {"progressToken": token}}),
        );
        message["params"]["_meta"][META[0]] = json!("2025-11-25");
        assert_eq!(
            Server::new().line(&message).code(),
            code,
            "{token} in a legacy request"
        );
    }
}

#[test]
fn log6_levels_are_those_of_syslog() {
    for (level, code) in [
        (json!("debug"), None),
        (json!("emergency"), None),
        (json!("Debug"), Some(-32602)),
        (json!("trace"), Some(-32602)),
        (json!(7), Some(-32602)),
    ] {
        let mut message = modern("tools/list", json!({}));
        message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level.clone();
        let reply = Server::new().post(&Post::modern(&message));
        assert_eq!((reply.answer.status, reply.code()), (200, code), "{level}");
    }
}

#[test]
fn meta14_unknown_keys_reach_the_handler() {
    let mut message = call("now", json!({}));
    message["params"]["_meta"]["com.example/trace"] = json!([1, null]);
    message["params"]["_meta"]["traceparent"] =
        json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let expected = json!({
        "com.example/trace": [1, null],
        "traceparent": message["params"]["_meta"]["traceparent"],
    });
    let reply = Server::new()
        .handling(move |call| {
            let meta = call.context.meta();
            let meta: Value = meta.map(|(key, node)| (key, node.to_value())).collect();
            assert_eq!(meta, expected);
            text("seen")
        })
        .line(&message);
    assert_eq!(reply.text(), "seen");
}

#[test]
fn meta7_capabilities_are_those_of_the_request() {
    let mut server = Server::new().handling(|call| text(call.context.client_capabilities().raw()));
    let mut message = call("now", json!({}));
    message["params"]["_meta"][META[1]] = json!({"elicitation": {}});
    assert_eq!(server.line(&message).text(), r#"{"elicitation":{}}"#);
    message["params"]["_meta"] = modern_meta();
    assert_eq!(server.line(&message).text(), "{}");
}

/// A-12: a notification over HTTP is taken and dropped; its headers are compared where they are there.
#[test]
fn a12_modern_notifications_by_http() {
    let cancelled = notification("notifications/cancelled", json!({"requestId": 1}));
    let with_header = Post::plain(&cancelled).set("MCP-Protocol-Version", MODERN);
    let mut claiming = cancelled.clone();
    claiming["params"]["_meta"] = modern_meta();
    for (post, status, code) in [
        (with_header.clone(), 202, None),
        (
            with_header
                .clone()
                .set("Mcp-Method", "notifications/cancelled"),
            202,
            None,
        ),
        (
            with_header.clone().set("Mcp-Method", "tools/call"),
            400,
            Some(-32020),
        ),
        (Post::plain(&claiming), 202, None),
        (
            Post::plain(&claiming).set("MCP-Protocol-Version", "2025-11-25"),
            400,
            Some(-32020),
        ),
        (
            with_header.edit(|message| message["method"] = json!("notifications/unheard-of")),
            202,
            None,
        ),
    ] {
        let reply = Server::new().post(&post);
        assert_eq!(reply.refusal(), (status, code, None), "{post:?}");
        assert_eq!(
            reply.asked,
            ["body 1048576"],
            "nothing is cancelled over HTTP"
        );
    }
}

/// A-29: `initialize` that names the modern revision, without a claim, settles on the newest legacy one.
#[test]
fn a29_initialize_never_offers_the_modern_revision() {
    for requested in [MODERN, "2024-11-05", "1900-01-01", "", "2025-11-25"] {
        let params = json!({"protocolVersion": requested, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
        let reply = Server::new().line(&legacy("initialize", params.clone()));
        assert_eq!(
            reply.result()["protocolVersion"],
            json!("2025-11-25"),
            "{requested}"
        );
        let reply = Server::new().post(&Post::plain(&legacy("initialize", params)));
        assert_eq!(
            reply.result()["protocolVersion"],
            json!("2025-11-25"),
            "{requested}"
        );
    }
}
