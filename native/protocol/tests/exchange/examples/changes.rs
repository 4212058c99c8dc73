//! Examples of what subscribers hear.

use mcp_protocol::{Change, EventId, Listing, StreamKind};
use serde_json::{Value, json};

use super::server::assert_same;
use crate::harness::{Pending, Post, modern, offering_all, said_bytes};

/// The subscription of the examples.
fn listening() -> Pending {
    let mut server = offering_all();
    let mut message = modern(
        "subscriptions/listen",
        json!({"notifications": {
            "toolsListChanged": true,
            "resourceSubscriptions": ["file:///project/config.json"],
        }}),
    );
    message["id"] = json!("listen-1");
    let pending = server.begin(&Post::modern(&message));
    server.until_listening(pending)
}

fn nowhere() -> EventId {
    EventId {
        kind: StreamKind::Get,
        stream: "".into(),
        number: 0,
    }
}

pub fn acknowledged(file: &str, example: &Value) {
    let opening = listening().subscription().opening(&nowhere()).unwrap();
    assert_eq!(&said_bytes(&opening), example, "{file}");
}

pub fn change(file: &str, example: &Value) {
    let change = match example["method"].as_str().unwrap() {
        "notifications/tools/list_changed" => Change::List(Listing::Tools),
        "notifications/prompts/list_changed" => Change::List(Listing::Prompts),
        "notifications/resources/list_changed" => Change::List(Listing::Resources),
        _ => Change::resource(example["params"]["uri"].as_str().unwrap()).unwrap(),
    };
    let told = listening().subscription().tell(&change, &nowhere());
    assert_eq!(&said_bytes(&told), example, "{file}");
}

pub fn updated_params(file: &str, example: &Value) {
    let change = Change::resource(example["uri"].as_str().unwrap()).unwrap();
    let told = listening().subscription().tell(&change, &nowhere());
    assert_eq!(
        &said_bytes(&told)["params"]["uri"],
        &example["uri"],
        "{file}"
    );
}

pub fn listen_result(file: &str, example: &Value) {
    let reply = offering_all().settle(listening());
    let mut ours = said_bytes(&reply.answer.body);
    ours["result"]["_meta"]
        .as_object_mut()
        .unwrap()
        .remove("io.modelcontextprotocol/serverInfo");
    match example.get("result") {
        Some(_) => assert_same(file, example, &ours),
        None => assert_same(file, example, &ours["result"]),
    }
}
