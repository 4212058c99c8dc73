//! Changes on a pipe: streams that a modern client opens, and what a legacy one hears without asking.

use mcp_driver::Host;
use mcp_protocol::{Change, Listing};
use mcp_testing::{call, cancel, eventually};
use serde_json::{Value, json};

use crate::support::{Client, client};

const TOOLS: Change = Change::List(Listing::Tools);
const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(id: &Value) -> Value {
    let mut message = call(id.clone(), "", &json!({}));
    message["method"] = json!("subscriptions/listen");
    message["params"]["notifications"] = json!({"toolsListChanged": true});
    message
}

/// Waits until so many streams are open.
fn open(client: &Client, count: usize) {
    eventually("the streams are open", || {
        client.host.subscribers().streams() == count
    });
}

fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0", "id": "i", "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "client", "version": "1"},
        },
    })
}

/// SUB-6, SUB-8, SUB-9
#[test]
fn each_stream_is_told_under_its_own_id() {
    let mut client = client();
    for id in [json!(0), json!("a")] {
        client.send(&listen(&id));
        let first = client.receive();
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(first["params"]["_meta"][ID], id);
    }
    client.host.subscribers().publish(&TOOLS, None);
    let mut told: Vec<Value> = (0..2)
        .map(|_| {
            let message = client.receive();
            assert_eq!(message["method"], "notifications/tools/list_changed");
            message["params"]["_meta"][ID].clone()
        })
        .collect();
    told.sort_by_key(Value::to_string);
    assert_eq!(told, [json!("a"), json!(0)]);
}

/// SUB-11, STD-7
#[test]
fn a_cancelled_stream_says_nothing_more() {
    let mut client = client();
    client.send(&listen(&json!(1)));
    client.receive();
    client.send(&cancel(1));
    eventually("it is forgotten", || client.host.subscribers().is_empty());
    client.host.subscribers().publish(&TOOLS, None);
    client.send(&call(2, "echo", &json!({"text": "next"})));
    assert_eq!(client.receive()["id"], 2);
    client.send(&listen(&json!(1)));
    assert_eq!(client.receive()["params"]["_meta"][ID], 1);
}

/// STD-9, SUB-14, SUB-15, A-6: the result, then the sign.
#[test]
fn the_end_of_input_ends_streams_with_their_result() {
    let mut client = client();
    client.send(&listen(&json!(1)));
    client.receive();
    client.input = None;
    let result = client.receive();
    assert_eq!(
        (&result["id"], &result["result"]["_meta"][ID]),
        (&json!(1), &json!(1))
    );
    let sign = client.receive();
    assert_eq!(sign["method"], "notifications/cancelled");
    assert_eq!(sign["params"]["requestId"], 1);
    assert_eq!(client.receive(), Value::Null);
    client.end();
    assert!(client.host.is_idle());
}

/// LIFE-5: from the first message after `initialize` on.
#[test]
fn a_legacy_client_hears_without_asking() {
    let mut client = client();
    client.host.subscribers().publish(&TOOLS, None);
    client.send(&initialize());
    assert_eq!(client.receive()["id"], "i");
    assert_eq!(client.host.subscribers().streams(), 0);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    open(&client, 1);
    client.host.subscribers().publish(&TOOLS, None);
    assert_eq!(
        client.receive(),
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    );
    client.input = None;
    assert_eq!(client.receive(), Value::Null);
    client.end();
    assert!(client.host.is_idle());
}
