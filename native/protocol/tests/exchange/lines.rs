//! Lines longer than the limit: STD-13, X03. What was kept of them may still tell whom to answer.

use mcp_protocol::Line;
use serde_json::{Value, json};

use crate::harness::{Reply, Server, call};

fn too_long(prefix: &str) -> Reply {
    let mut server = Server::new();
    let line = Line::TooLong {
        prefix: prefix.to_owned().into(),
        limit: 1_048_576,
    };
    let pending = server.begin_line(line);
    server.settle(pending)
}

#[test]
fn x03_the_refusal_names_the_limit() {
    let reply = too_long(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"#);
    assert_eq!((reply.code(), reply.json().get("id")), (Some(-32600), None));
    assert!(reply.message().contains("1048576"), "{}", reply.message());
    assert!(reply.keeps() && !reply.called());
}

#[test]
fn std13_a_top_level_id_is_echoed() {
    let long = format!(r#""params":{{"id":"inner","text":"{}"#, "x".repeat(1_000));
    for (before, id) in [
        (r#""id":7,"#, Some(json!(7))),
        (r#""id" : "a\"b" ,"#, Some(json!("a\"b"))),
        (r#""method":"tools/call","id":0,"#, Some(json!(0))),
        (r#""method":"tools/call","#, None),
        (r#""id":null,"#, None),
        (r#""id":1.5,"#, None),
        (r#""id":[1],"#, None),
    ] {
        let reply = too_long(&format!(r#"{{"jsonrpc":"2.0",{before}{long}"#));
        assert_eq!(reply.json().get("id").cloned(), id, "{before}");
        assert_eq!(reply.code(), Some(-32600));
    }
}

#[test]
fn std13_an_id_that_may_go_on_is_not_echoed() {
    for prefix in [
        r#"{"id":1"#,
        r#"{"id":"abc"#,
        r#"{"id"#,
        "{",
        "",
        "[1",
        "x",
        r#"{"params":{"id":1}"#,
    ] {
        let reply = too_long(prefix);
        assert_eq!(
            (reply.code(), reply.json().get("id")),
            (Some(-32600), None),
            "{prefix}"
        );
    }
}

#[test]
fn g13_the_next_line_is_served() {
    let mut server = Server::new();
    let pending = server.begin_line(Line::TooLong {
        prefix: "{bad".into(),
        limit: 4,
    });
    server.settle(pending);
    assert_eq!(server.bytes("{bad").code(), Some(-32700));
    assert_eq!(
        server
            .line(&call("now", Value::from(serde_json::Map::new())))
            .text(),
        "done"
    );
}
