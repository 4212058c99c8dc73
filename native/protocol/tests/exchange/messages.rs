//! One JSON-RPC message at a time: RPC-*, step 6 of table 0.7, and the trials of ids, member names and JSON.

use mcp_protocol::MAX_ID_BYTES;
use serde_json::{Value, json};

use crate::harness::{META, Post, Reply, Server, call, legacy, modern, notification};

/// The same bytes on both transports, with the headers of a modern `tools/list`.
fn both(body: &str) -> [Reply; 2] {
    let post = Post::request("tools/list").body(body);
    [
        Server::new().post(&post),
        Server::new().bytes(body.to_owned()),
    ]
}

fn with_id(id: &str) -> String {
    modern("tools/list", json!({}))
        .to_string()
        .replace(r#""id":1"#, &format!(r#""id":{id}"#))
}

#[test]
fn rpc1_a_message_is_json_rpc_2_0() {
    for (body, code, id) in [
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
            -32600,
            Some(json!(1)),
        ),
        (
            r#"{"id":"a","method":"tools/list"}"#,
            -32600,
            Some(json!("a")),
        ),
        (
            r#"{"jsonrpc":2.0,"id":1,"method":"tools/list"}"#,
            -32600,
            Some(json!(1)),
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600, Some(json!(1))),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            -32600,
            Some(json!(1)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            -32600,
            Some(json!(1)),
        ),
        ("{}", -32600, None),
        ("7", -32600, None),
        ("null", -32600, None),
        (r#""tools/list""#, -32600, None),
    ] {
        for reply in both(body) {
            assert_eq!(reply.refusal(), (400, Some(code), id.clone()), "{body}");
        }
    }
}

#[test]
fn rpc14_an_array_is_refused_whatever_it_holds() {
    for body in [
        "[]",
        "[1]",
        &format!("[{}]", modern("tools/list", json!({}))),
    ] {
        for reply in both(body) {
            assert_eq!(reply.refusal(), (400, Some(-32600), None), "{body}");
        }
    }
}

#[test]
fn rpc18_params_are_an_object() {
    for params in ["[]", "null", "1", "\"a\""] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#);
        for reply in both(&body) {
            assert_eq!(
                reply.refusal(),
                (400, Some(-32602), Some(json!(1))),
                "{params}"
            );
        }
    }
}

#[test]
fn err1_bytes_that_are_not_json_are_a_parse_error_without_id() {
    for body in [
        "",
        " ",
        "{",
        "{bad",
        r#"{"id":1}}"#,
        r#"{"id":1} {"#,
        "{'id':1}",
        r#"{"id":01}"#,
        "\u{feff}{}",
    ] {
        for reply in both(body) {
            assert_eq!(reply.refusal(), (400, Some(-32700), None), "{body:?}");
            assert!(reply.keeps());
        }
    }
    let reply = Server::new().bytes(b"{\"method\":\"\xff\"}".to_vec());
    assert_eq!(reply.refusal(), (400, Some(-32700), None));
}

#[test]
fn rpc3_ids_are_strings_or_integers_and_come_back_byte_for_byte() {
    for id in [
        "0",
        "-1",
        r#""""#,
        r#""init-1""#,
        r#""\u0061\n""#,
        "123456789012345678901234567890",
        "-0",
    ] {
        for reply in both(&with_id(id)) {
            assert_eq!(reply.answer.status, 200, "{id}");
            let body = String::from_utf8(reply.answer.body).unwrap();
            assert!(body.contains(&format!(r#""id":{id},"#)), "{body}");
        }
    }
}

/// Among them G01 (null) and integer-valued fractions, which count as fractions.
#[test]
fn g01_any_other_id_is_refused_and_nothing_runs() {
    for id in ["null", "1.5", "3100.0", "1e2", "true", "[]", "{}"] {
        for reply in both(&with_id(id)) {
            assert_eq!(reply.refusal(), (400, Some(-32600), None), "{id}");
            assert!(!reply.called());
        }
    }
}

#[test]
fn an_endless_id_is_refused() {
    let longest = format!("\"{}\"", "x".repeat(MAX_ID_BYTES - 2));
    for reply in both(&with_id(&longest)) {
        assert_eq!(reply.code(), None);
    }
    let longer = format!("\"{}\"", "x".repeat(MAX_ID_BYTES - 1));
    for reply in both(&with_id(&longer)) {
        assert_eq!(reply.refusal(), (400, Some(-32600), None));
        assert!(reply.message().contains("1024"), "{}", reply.message());
    }
}

#[test]
fn g04_member_names_are_compared_with_their_case() {
    for reply in both(r#"{"jsonrpc":"2.0","ID":1,"Method":"tools/call","params":{}}"#) {
        assert_eq!(reply.refusal(), (400, Some(-32600), None));
    }
    let twofold =
        modern("tools/list", json!({}))
            .to_string()
            .replacen('{', r#"{"Method":"tools/call","#, 1);
    for reply in both(&twofold) {
        assert!(reply.result()["tools"].is_array() && !reply.called());
    }
}

#[test]
fn g05_a_repeated_key_is_refused_by_name_at_any_depth() {
    let call = call("echo", json!({"text": "hi"})).to_string();
    for (from, to, key) in [
        (r#""name":"echo""#, r#""name":"echo","name":"now""#, "name"),
        (
            r#""name":"echo""#,
            r#""name":"echo","\u006eame":"now""#,
            "name",
        ),
        (
            r#""text":"hi""#,
            r#""text":{"a":[{"deep":1,"deep":1}]}"#,
            "deep",
        ),
        (r#""id":1"#, r#""id":1,"id":1"#, "id"),
    ] {
        assert!(call.contains(from));
        let body = call.replace(from, to);
        let post = Post::request("tools/call")
            .set("Mcp-Name", "echo")
            .body(body.clone());
        for reply in [Server::new().post(&post), Server::new().bytes(body)] {
            assert_eq!((reply.answer.status, reply.code()), (400, Some(-32600)));
            assert!(
                reply.message().contains(key) && !reply.called(),
                "{}",
                reply.message()
            );
        }
    }
}

#[test]
fn g06_brackets_are_counted_and_refused() {
    let hostile = call("echo", json!({"text": 0}))
        .to_string()
        .replace(":0}", &format!(":{}", "[".repeat(524_288)));
    for reply in both(&hostile) {
        assert_eq!((reply.answer.status, reply.code()), (400, Some(-32600)));
        assert!(
            reply.message().contains("64") && reply.keeps(),
            "{}",
            reply.message()
        );
    }
}

#[test]
fn depth_is_an_option() {
    let nested = |levels: usize| {
        let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        call("now", json!({"a": 0}))
            .to_string()
            .replace(":0}", &format!(":{value}}}"))
    };
    let mut server = Server::with(|config| config.json.max_depth = 8);
    assert_eq!(server.bytes(nested(5)).code(), None);
    assert_eq!(server.bytes(nested(6)).code(), Some(-32600));
}

#[test]
fn surrogates_come_in_pairs() {
    let post = |text: &str| {
        call("echo", json!({"text": "?"}))
            .to_string()
            .replace('?', text)
    };
    assert!(Server::new().bytes(post(r"\ud83d\ude00")).called());
    for lone in [r"\ud83d", r"\ude00", r"\ud83d\ud83d", r"\ud83dx"] {
        let reply = Server::new().bytes(post(lone));
        assert!(
            matches!(reply.code(), Some(-32700 | -32600)) && !reply.called(),
            "{lone}"
        );
    }
}

#[test]
fn numbers_are_exact_up_to_a_limit_of_digits() {
    let digits = "9".repeat(4_096);
    let list = |number: &str| {
        modern("tools/list", json!({"n": 0}))
            .to_string()
            .replace(r#""n":0"#, &format!(r#""n":{number}"#))
    };
    assert_eq!(Server::new().bytes(list(&digits)).code(), None);
    for endless in [format!("{digits}9"), "1e400".into(), "-1e400".into()] {
        let reply = Server::new().bytes(list(&endless));
        assert!(
            matches!(reply.code(), Some(-32700 | -32600)),
            "{endless:.10}"
        );
    }
}

#[test]
fn rpc12_notifications_are_never_answered_on_a_pipe() {
    for message in [
        notification("notifications/initialized", json!({})),
        notification("notifications/cancelled", json!({})),
        notification("notifications/unheard-of", json!({})),
        notification("notifications/progress", json!({"_meta": 7})),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ] {
        assert!(Server::new().line(&message).is_silent(), "{message}");
    }
}

#[test]
fn x07_a_request_without_id_does_not_run() {
    let mut message = call("echo", json!({"text": "hi"}));
    message.as_object_mut().unwrap().remove("id");
    let reply = Server::new().post(&Post::modern(&message));
    assert_eq!(reply.refusal(), (400, Some(-32600), None));
    assert!(!reply.called());
    let reply = Server::new().line(&message);
    assert!(reply.is_silent() && !reply.called());
}

#[test]
fn a_notification_with_an_id_is_refused() {
    let reply = Server::new().post(&Post::request("notifications/cancelled"));
    assert_eq!(reply.refusal(), (400, Some(-32600), Some(json!(1))));
}

#[test]
fn rpc13_responses_are_refused_outside_a_session() {
    for response in [
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "no"}}),
        json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "no"}}),
    ] {
        for post in [
            Post::plain(&response),
            Post::plain(&response).set("MCP-Protocol-Version", "2026-07-28"),
        ] {
            let reply = Server::new().post(&post);
            assert_eq!(reply.refusal(), (400, Some(-32600), None));
        }
        assert!(
            Server::new().line(&response).is_silent(),
            "a response is answered with nothing on a pipe"
        );
    }
}

#[test]
fn rpc15_nothing_is_remembered_from_one_modern_request_to_the_next() {
    let mut server = Server::new();
    assert_eq!(
        server.line(&modern("server/discover", json!({}))).code(),
        None
    );
    assert_eq!(
        server.line(&legacy("tools/list", json!({}))).code(),
        Some(-32600)
    );
    let bare = json!({META[0]: "2026-07-28"});
    assert_eq!(
        server
            .line(&legacy("tools/list", json!({"_meta": bare})))
            .code(),
        Some(-32602)
    );
}

#[test]
fn rpc11_messages_are_single_sentences_of_modest_length() {
    let long = "x".repeat(100_000);
    let messages: [Value; 4] = [
        modern(&long, json!({})),
        call(&long, json!({})),
        modern("tools/list", json!({"cursor": long})),
        legacy(&long, json!({})),
    ];
    for message in messages {
        let reply = Server::new().line(&message);
        let text = reply.message();
        assert!(
            !text.is_empty() && text.len() < 600 && !text.contains('\n'),
            "{text}"
        );
    }
}
