//! Prompts: PRM-*, HDR-4, X14, X16.

use serde_json::{Value, json};

use crate::harness::{Post, Server, definition, message, modern, offering_all, prompt};

fn get(name: &str, arguments: Value) -> Value {
    modern("prompts/get", json!({"name": name, "arguments": arguments}))
}

#[test]
fn hdr4_the_name_is_mirrored() {
    let post = Post::modern(&get("greet", json!({"name": "Ada"})));
    let status = |post: &Post| {
        offering_all()
            .handling(|_| message("Hello"))
            .post(post)
            .refusal()
    };
    assert_eq!(status(&post).0, 200);
    for wrong in [
        post.clone().without("Mcp-Name"),
        post.clone().set("Mcp-Name", "Greet"),
        post.clone().also("Mcp-Name", "greet"),
    ] {
        assert_eq!(status(&wrong), (400, Some(-32020), Some(json!(1))));
    }
}

/// PRM-3, PRM-5: arguments are strings and the required ones are there; the host is not asked before.
#[test]
fn prm5_arguments_are_checked_first() {
    for (arguments, named) in [
        (json!({}), "name"),
        (json!({"style": "warm"}), "name"),
        (json!({"name": 1}), "name"),
        (json!({"name": "Ada", "style": null}), "style"),
        (json!({"name": "Ada", "more": {}}), "more"),
        (json!([]), "params.arguments"),
        (Value::Null, "params.arguments"),
    ] {
        let post = Post::modern(&get("greet", arguments.clone()));
        let reply = offering_all().post(&post);
        assert_eq!(
            reply.refusal(),
            (200, Some(-32602), Some(json!(1))),
            "{arguments}"
        );
        assert!(reply.message().contains(named), "{}", reply.message());
        assert!(!reply.called());
    }
    let mut absent = modern("prompts/get", json!({"name": "greet"}));
    assert!(
        offering_all()
            .line(&absent)
            .message()
            .contains("needs the arguments: name")
    );
    absent["params"]["name"] = json!(7);
    assert!(
        offering_all()
            .line(&absent)
            .message()
            .contains("params.name")
    );
}

/// What the prompt does not declare is the handler's to judge.
#[test]
fn undeclared_arguments_are_passed_on() {
    let mut server = offering_all().handling(|_| message("Hello"));
    let reply = server.line(&get("greet", json!({"name": "Ada", "mood": "good"})));
    assert_eq!(reply.asked, [r#"get greet {"name":"Ada","mood":"good"}"#]);
    let mut server = Server::offering([prompt("plain", &[])], |_| ()).handling(|_| message("Hi"));
    let reply = server.line(&modern("prompts/get", json!({"name": "plain"})));
    assert_eq!(reply.asked, ["get plain {}"]);
    assert_eq!(
        reply.result()["messages"][0]["content"]["text"],
        json!("Hi")
    );
}

#[test]
fn unknown_prompts_are_named_and_shortened() {
    let long = "x".repeat(100_000);
    let reply = offering_all().line(&get(&long, json!({})));
    assert_eq!(reply.code(), Some(-32602));
    assert!(reply.answer.body.len() < 300 && reply.message().starts_with("Unknown prompt: xxx"));
}

/// X32, ERR-9
#[test]
fn without_prompts_there_are_no_methods_of_theirs() {
    let mut server = Server::offering([definition("tool", None)], |_| ());
    for method in ["prompts/list", "prompts/get"] {
        let reply = server.post(&Post::request(method).set("Mcp-Name", "x"));
        assert_eq!(reply.refusal(), (404, Some(-32601), Some(json!(1))));
    }
}
