//! What hosts may ask, checked where they ask it (requirements 22 and 23).

use serde_json::{Value, json};

use crate::harness::{Post, Server, call, form, question, roots, sampling, visit};

fn post() -> Post {
    Post::modern(&call("now", json!({})))
}

/// ELI-4, ELI-5, ELI-9, SAM-2, SAM-4: what the host has to mend is said where it asks.
#[test]
fn questions_are_checked_at_the_source() {
    let mut server = Server::new();
    let pending = server.begin(&post());
    let mut inquiry = server.until_called(pending).inquiry();
    let field = |field: Value| form(&json!({"f": field}));
    let sample = |change: &dyn Fn(&mut Value)| {
        let mut request = sampling();
        change(&mut request["params"]);
        request
    };
    let tool_use = json!({"type": "tool_use", "id": "1", "name": "n", "input": {}});
    for (request, fault) in [
        (json!({"method": "ping"}), "method must be"),
        (field(json!({"type": "object"})), "properties.f.type"),
        (
            field(json!({"type": "string", "pattern": "a"})),
            "properties.f.pattern",
        ),
        (
            field(json!({"type": "string", "format": "password"})),
            "properties.f.format",
        ),
        (
            field(json!({"type": "string", "minLength": -1})),
            "minLength",
        ),
        (
            field(json!({"type": "string", "enum": []})),
            "at least one choice",
        ),
        (
            field(json!({"type": "string", "enum": ["a"], "enumNames": []})),
            "enumNames",
        ),
        (field(json!({"type": "array"})), "properties.f.items"),
        (
            field(json!({"type": "array", "items": {"type": "integer"}})),
            "items.type",
        ),
        (
            field(json!({"type": ["string", "null"]})),
            "properties.f.type",
        ),
        (field(json!({"type": "number", "default": "1"})), "default"),
        (visit("file:///etc/passwd"), "https URL"),
        (visit("https://exa mple.com/"), "params.url"),
        (visit("https://"), "https URL"),
        (
            sample(&|params| params["messages"] = json!([])),
            "at least one message",
        ),
        (
            sample(&|params| params["maxTokens"] = json!(0)),
            "maxTokens",
        ),
        (
            sample(&|params| params["messages"][0]["role"] = json!("system")),
            "role",
        ),
        (
            sample(&|params| params["messages"][0]["content"] = json!({"type": "video"})),
            "type",
        ),
        (sample(&|params| params["stop"] = json!("x")), "params.stop"),
        (
            sample(&|params| params["messages"][0]["content"] = tool_use.clone()),
            "unanswered",
        ),
    ] {
        let key = format!("key {fault} {request}");
        let questions = vec![question(&key[..key.len().min(200)], &request)];
        let said = inquiry
            .ask(questions, false, |_| String::new())
            .unwrap_err();
        assert!(said.contains(fault), "{said} for {request}");
    }
    for key in ["", &"k".repeat(257)] {
        let questions = vec![question(key, &roots())];
        assert!(inquiry.ask(questions, false, |_| String::new()).is_err());
    }
    let twice = vec![question("a", &roots()), question("a", &roots())];
    let said = inquiry.ask(twice, false, |_| String::new()).unwrap_err();
    assert!(said.contains("asked before"), "{said}");
}
