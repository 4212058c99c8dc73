//! Examples of what a client sends: accepted on both transports, with the outcome that this server has for them.

use mcp_protocol::{Definition, Reference, Target};
use serde_json::{Value, json};

use crate::harness::{
    Post, Reply, Server, completion, contents, definition, message, modern, modern_meta,
    notification, prompt, resource, text, values,
};

/// What the examples call, read, get and complete.
fn server() -> Server {
    let open = json!({"type": "object"});
    let tools =
        ["get_weather", "build_simulation"].map(|name| definition(name, Some(open.clone())).into());
    let review = Reference::Prompt("code_review".into());
    let offers: [Definition; 3] = [
        resource("file:///project/src/main.rs").into(),
        prompt("code_review", &["code!", "language", "framework"]).into(),
        completion(review, None).into(),
    ];
    let definitions = tools.into_iter().chain(offers);
    Server::offering(definitions, |_| ()).handling(|call| match &call.target {
        Target::Tool(tool) => text(&tool.name),
        Target::Resource(_) => contents("fn main() {}"),
        Target::Prompt(_) => message("Please review"),
        Target::Completion(_) => values(&["flask"]),
    })
}

/// The same request on both transports.
fn both(message: &Value) -> [Reply; 2] {
    [
        server().post(&Post::modern(message)),
        server().line(message),
    ]
}

/// A request of a method that is served.
pub fn served_request(file: &str, example: &Value) {
    for reply in both(example) {
        assert_eq!(
            (reply.answer.status, reply.code()),
            (200, None),
            "{file}: {}",
            reply.message()
        );
        assert_eq!(reply.json()["id"], example["id"], "{file}");
        assert_eq!(reply.result()["resultType"], json!("complete"), "{file}");
    }
}

pub fn call_params(file: &str, example: &Value) {
    let message = with_params("tools/call", example);
    served_request(file, &message);
    for reply in both(&message) {
        assert_eq!(json!(reply.text()), example["name"], "{file}");
    }
}

pub fn complete_params(file: &str, example: &Value) {
    served_request(file, &with_params("completion/complete", example));
}

pub fn get_prompt_params(file: &str, example: &Value) {
    served_request(file, &with_params("prompts/get", example));
}

/// The example's cursor is another server's.
pub fn paginated_params(file: &str, example: &Value) {
    for reply in both(&with_params("tools/list", example)) {
        assert_eq!(reply.code(), Some(-32602), "{file}");
    }
}

/// On a pipe it cancels; over HTTP a modern notification is dropped (A-12).
pub fn cancelled(file: &str, example: &Value) {
    let reply = server().line(example);
    assert_eq!(reply.asked, [r#"cancel in pipe 1: "123""#], "{file}");
    assert!(reply.is_silent());
    let mut claiming = example.clone();
    claiming["params"]["_meta"] = modern_meta();
    let reply = server().post(&Post::plain(&claiming));
    assert_eq!((reply.answer.status, reply.asked.len()), (202, 1), "{file}");
}

pub fn cancelled_params(file: &str, example: &Value) {
    cancelled(
        file,
        &notification("notifications/cancelled", example.clone()),
    );
}

pub fn capabilities(file: &str, example: &Value) {
    let mut message = modern("tools/call", json!({"name": "get_weather"}));
    message["params"]["_meta"][crate::harness::META[1]] = example.clone();
    served_request(file, &message);
}

fn with_params(method: &str, params: &Value) -> Value {
    let mut message = modern(method, params.clone());
    if params.get("_meta").is_some() {
        message["params"]["_meta"] = params["_meta"].clone();
    }
    message
}
