//! Examples of what a server sends: made again from host values and compared.

use mcp_protocol::{CallOutcome, Input, ToolDefinition, ToolResult};
use serde_json::{Value, json};

use super::offers::caching;
use crate::harness::{
    META, Post, Reply, Server, call, definition, differences, modern, nothing, offering_all,
    prompt, resource,
};

const IDENTITY: &str = "io.modelcontextprotocol/serverInfo";

pub(super) fn assert_same(file: &str, example: &Value, ours: &Value) {
    let found = differences(&settled(example), &settled(ours));
    assert!(found.is_empty(), "{file}: {}", found.join("\n"));
}

/// A result, or a message that holds one, without what the module's first lines set aside.
fn settled(value: &Value) -> Value {
    let mut value = value.clone();
    let result = if value.get("result").is_some() {
        &mut value["result"]
    } else {
        &mut value
    };
    let Some(members) = result.as_object_mut() else {
        return value;
    };
    if members.get("isError") == Some(&json!(false)) {
        members.remove("isError");
    }
    if members
        .get("_meta")
        .is_some_and(|meta| meta == &json!({IDENTITY: identity()}))
    {
        members.remove("_meta");
    }
    if let Some(cursor) = members.get_mut("nextCursor") {
        *cursor = json!("a cursor");
    }
    if members.contains_key("supportedVersions") {
        members["supportedVersions"] = json!(["2026-07-28"]);
        let tools = members["capabilities"].get("tools").map(|_| json!({}));
        members["capabilities"] = json!({"tools": tools});
    }
    value
}

/// The identity of the examples, which is the tests' too.
fn identity() -> Value {
    json!({"name": "ExampleServer", "version": "1.0.0"})
}

/// A server whose one tool answers with the parts of `result`.
fn answering(result: &Value) -> Server {
    let json = |member: &str| {
        result
            .get(member)
            .map(|value| value.to_string().into_bytes())
    };
    let (content, structured) = (
        json("content").unwrap_or_default(),
        json("structuredContent"),
    );
    let is_error = result["isError"] == json!(true);
    Server::new().handling(move |_| {
        let (content, structured) = (content.clone(), structured.clone());
        Input::Outcome(CallOutcome::Tool(ToolResult {
            content,
            structured,
            is_error,
            meta: None,
        }))
    })
}

pub fn call_tool_result(file: &str, example: &Value) {
    let reply = answering(example).line(&call("now", json!({})));
    assert_same(file, example, &reply.result());
}

pub fn call_tool_response(file: &str, example: &Value) {
    let mut message = call("now", json!({}));
    message["id"] = example["id"].clone();
    let reply = answering(&example["result"]).line(&message);
    assert_same(file, example, &reply.json());
}

/// A content block passes through as the host made it.
pub fn content_block(file: &str, example: &Value) {
    let result = json!({"resultType": "complete", "content": [example]});
    call_tool_result(file, &result);
}

pub fn embedded_resource(file: &str, example: &Value) {
    content_block(file, &json!({"type": "resource", "resource": example}));
}

/// A definition with the fields of an example entry.
fn defined(entry: &Value) -> ToolDefinition {
    let text = |member: &str| entry[member].as_str().map(str::to_owned);
    ToolDefinition {
        title: text("title"),
        description: text("description"),
        output_schema: entry.get("outputSchema").cloned(),
        icons: entry.get("icons").cloned(),
        ..definition(
            entry["name"].as_str().unwrap(),
            entry.get("inputSchema").cloned(),
        )
    }
}

pub fn tool(file: &str, example: &Value) {
    let mut server = Server::offering(vec![defined(example)], |_| ());
    let listed = server.line(&modern("tools/list", json!({}))).result()["tools"][0].take();
    assert_same(file, example, &listed);
}

/// The example's tools on one page, and one more for the next.
fn listing(result: &Value) -> Server {
    let tools = result["tools"].as_array().unwrap();
    let definitions = tools.iter().map(defined).chain([definition("next", None)]);
    Server::offering(definitions, |config| {
        config.page_size = tools.len();
        caching(config, result);
    })
}

pub fn list_tools_result(file: &str, example: &Value) {
    let reply = listing(example).line(&modern("tools/list", json!({})));
    assert_same(file, example, &reply.result());
}

pub fn list_tools_response(file: &str, example: &Value) {
    let mut message = modern("tools/list", json!({}));
    message["id"] = example["id"].clone();
    let reply = listing(&example["result"]).line(&message);
    assert_same(file, example, &reply.json());
}

fn introducing(result: &Value) -> Server {
    Server::with(|config| {
        config.instructions = result["instructions"].as_str().map(str::to_owned);
        caching(config, result);
    })
}

pub fn discover_result(file: &str, example: &Value) {
    let result = introducing(example)
        .line(&modern("server/discover", json!({})))
        .result();
    assert_same(file, example, &result);
    assert_eq!(
        result["_meta"], example["_meta"],
        "{file}: the identity is the same"
    );
}

pub fn discover_response(file: &str, example: &Value) {
    let mut message = modern("server/discover", json!({}));
    message["id"] = example["id"].clone();
    let reply = introducing(&example["result"]).line(&message);
    assert_same(file, example, &reply.json());
}

/// The capabilities of what is served so far, without change notifications; log messages are served with anything.
pub fn capabilities(file: &str, example: &Value) {
    let discovered = |mut server: Server| {
        let discover = modern("server/discover", json!({}));
        server.line(&discover).result()["capabilities"].take()
    };
    let ours = [
        discovered(Server::offering(nothing(), |_| ())),
        discovered(Server::new()),
        discovered(Server::offering([resource("test://a")], |_| ())),
        discovered(Server::offering([prompt("a", &[])], |_| ())),
        discovered(Server::offering(nothing(), |config| {
            config.completes = true;
        })),
    ];
    let mut with_logging = example.clone();
    with_logging["logging"] = json!({});
    let is_ours = ours.contains(&with_logging);
    let served = [
        "completions-minimum-baseline-support",
        "logging-minimum-baseline-support",
        "prompts-list-changed-notifications",
        "resources-all-notifications",
        "tools-list-changed-notifications",
    ];
    let is_served = served.contains(&file);
    assert_eq!(is_ours, is_served, "{file}");
}

/// An error message, or the error in one, with the example's code and data and wording of our own.
fn assert_error(file: &str, example: &Value, reply: &Reply) {
    let message = reply.json();
    let mut expected = example.clone();
    let (wanted, ours) = match expected.get_mut("error") {
        Some(error) => {
            assert_eq!(message["id"], example["id"], "{file}");
            (error, &message["error"])
        }
        None => (&mut expected, &message["error"]),
    };
    wanted["message"] = json!("*");
    let found = differences(wanted, ours);
    assert!(found.is_empty(), "{file}: {}", found.join("\n"));
}

pub fn header_mismatch(file: &str, example: &Value) {
    let post = Post::modern(&call("now", json!({}))).set("Mcp-Name", "foo");
    assert_error(file, example, &Server::new().post(&post));
}

/// A list too large to send is the server's own fault.
pub fn internal_error(file: &str, example: &Value) {
    let mut server = Server::with(|config| config.max_result_bytes = 10);
    assert_error(
        file,
        example,
        &server.line(&modern("tools/list", json!({}))),
    );
}

pub fn invalid_params(file: &str, example: &Value) {
    let mut server = Server::new();
    let reply = match file {
        "invalid-cursor" => server.line(&modern("tools/list", json!({"cursor": "?"}))),
        "unknown-tool" => server.line(&call("invalid_tool_name", json!({}))),
        // arguments that break the input schema are the tool's error, not the protocol's.
        "invalid-tool-arguments" => {
            let result = server.line(&call("echo", json!({}))).result();
            return assert_eq!(result["isError"], json!(true), "{file}");
        }
        "unknown-prompt" => {
            let get = modern("prompts/get", json!({"name": "invalid_prompt_name"}));
            offering_all().line(&get)
        }
        _ => panic!("{file} is new"),
    };
    assert_error(file, example, &reply);
}

pub fn method_not_found(file: &str, example: &Value) {
    let mut expected = example.clone();
    expected.as_object_mut().unwrap().remove("data");
    assert_error(
        file,
        &expected,
        &Server::new().line(&modern("prompts/list", json!({}))),
    );
}

pub fn parse_error(file: &str, example: &Value) {
    assert_error(file, example, &Server::new().bytes("{bad"));
}

pub fn unsupported_version(file: &str, example: &Value) {
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"][META[0]] = example["error"]["data"]["requested"].clone();
    let reply = Server::new().line(&message);
    let mut expected = example.clone();
    let served = expected["error"]["data"]["supported"]
        .as_array_mut()
        .unwrap();
    assert_eq!(
        served.iter().map(Value::as_str).collect::<Vec<_>>(),
        [Some("2026-07-28"), Some("2025-11-25")]
    );
    served.push(json!("2025-06-18"));
    assert_error(file, &expected, &reply);
}
