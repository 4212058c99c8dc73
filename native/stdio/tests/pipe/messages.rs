//! Messages of a call before its answer (MCP basic/utilities/progress, server/utilities/logging).

use mcp_driver::{CancelReason, Host, Sent};
use mcp_protocol::{InputQuestion, Notice, Unanswered};
use mcp_testing::{Worker, call, cancel, eventually, legacy_call, log, other, progress};
use serde_json::{Value, json};

use crate::support::{Client, client, held, host, hurried};

/// Tells the client of the one call that is held.
fn notify(client: &Client, notice: Notice<'_>) -> Sent {
    client.host.notify(client.host.held()[0], notice)
}

#[test]
fn messages_are_lines_before_the_answer() {
    let mut client = client();
    client.send(&call(1, "hold", &json!({})));
    held(&client, 1);
    for notice in [progress(1), log(b"[1]"), other(), progress(2)] {
        assert_eq!(notify(&client, notice), Sent::Done);
    }
    let methods = ["progress", "message", "other", "progress"];
    for method in methods {
        let message = client.receive();
        assert_eq!(message["method"], format!("notifications/{method}"));
        assert_eq!(message.get("id"), None);
    }
    client.host.release();
    assert_eq!(client.receive()["id"], 1);
    eventually("nothing is left", || client.host.is_idle());
}

#[test]
fn messages_of_calls_side_by_side_name_their_calls() {
    let mut client = client();
    for id in ["a", "b"] {
        let mut call = call(id, "hold", &json!({}));
        call["params"]["_meta"]["progressToken"] = json!(id);
        client.send(&call);
    }
    held(&client, 2);
    let held = client.host.held();
    for step in 1..=10 {
        for call in &held {
            client.host.notify(*call, progress(step));
        }
    }
    let mut seen = [0, 0];
    for _ in 0..20 {
        let params = client.receive()["params"].take();
        let of = usize::from(params["progressToken"] == "b");
        seen[of] += 1;
        assert_eq!(params["progress"], seen[of], "each in its order");
    }
    client.host.release();
}

/// LOG-7
#[test]
fn a_level_set_holds_for_the_lines_that_follow_at_once() {
    let mut client = client();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        },
    });
    let set = json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": "error"}});
    let call = legacy_call(3, "hold");
    client.write(format!("{initialize}\n{set}\n{call}\n"));
    assert_eq!(client.receive()["id"], 1);
    assert_eq!(
        client.receive(),
        json!({"jsonrpc": "2.0", "id": 2, "result": {}})
    );
    held(&client, 1);
    notify(&client, log(b"1"));
    notify(&client, progress(1));
    assert_eq!(client.receive()["method"], "notifications/progress");
    client.host.release();
    assert_eq!(client.receive()["id"], 3);
}

/// STD-7: what was not written when the cancellation came is not written at all.
#[test]
fn nothing_follows_a_cancellation() {
    let mut client = client();
    client.send(&call(1, "hold", &json!({})));
    held(&client, 1);
    let number = client.host.held()[0];
    client.host.notify(number, other());
    assert_eq!(client.receive()["method"], "notifications/other");
    client.send(&cancel(1));
    eventually("it is cancelled", || {
        client.host.cancel_reasons() == [CancelReason::Cancelled]
    });
    assert_eq!(client.host.notify(number, other()), Sent::Done);
    client.send(&call(2, "echo", &json!({})));
    assert_eq!(client.receive()["id"], 2);
    client.input = None;
    assert_eq!(client.receive(), Value::Null);
}

/// Messages that still wait with their call when it is cancelled are not sent any more.
#[test]
fn a_cancellation_drops_what_waits_for_a_client_that_does_not_read() {
    let mut client = client();
    client.send(&call(1, "hold", &json!({})));
    client.send(&call(2, "hold", &json!({})));
    held(&client, 2);
    let first = client.host.held()[0];
    let large = format!("\"{}\"", "a".repeat(60_000));
    // What the descriptor and the queue of answers take, and as much that waits with the call.
    for _ in 0..150 {
        client.host.notify(first, log(large.as_bytes()));
    }
    let waiting = client.host.buffers().held();
    assert!(waiting > 100 * 60_000, "{waiting}");
    let (why, reason) = (Unanswered::Cancelled, CancelReason::Cancelled);
    mcp_driver::cancel(&client.host, first, why, reason);
    assert!(client.host.buffers().held() < waiting / 2 + 10 * 60_000);
    client.host.release();
    let answered =
        std::iter::from_fn(|| Some(client.receive())).find(|message| message.get("id").is_some());
    assert_eq!(answered.unwrap()["id"], 2);
}

#[test]
fn a_client_that_does_not_read_costs_a_bounded_number_of_bytes() {
    let mut client = Client::new(host(1_000, 4 << 20), hurried());
    client.send(&call(1, "hold", &json!({})));
    held(&client, 1);
    let large = format!("\"{}\"", "a".repeat(60_000));
    for step in 0..1_000 {
        assert_eq!(notify(&client, progress(step)), Sent::Done);
        assert_eq!(notify(&client, log(large.as_bytes())), Sent::Done);
    }
    assert!(client.host.buffers().held() <= 4 << 20);
    assert!(client.host.calls().messages_dropped() > 0);
    client.host.release();
    let mut newest = 0;
    loop {
        let message = client.receive();
        match message["params"]["progress"].as_i64() {
            Some(progress) => newest = progress,
            None if message.get("id").is_some() => break,
            None => {}
        }
    }
    assert_eq!(newest, 999, "the newest progress arrives");
    eventually("nothing is left", || client.host.is_idle());
}

#[test]
fn the_end_of_input_ends_messages_too() {
    let mut client = Client::new(host(10, 1 << 20), hurried());
    client.send(&call(1, "hold", &json!({})));
    held(&client, 1);
    notify(&client, other());
    assert_eq!(client.receive()["method"], "notifications/other");
    client.input = None;
    let answer = client.receive();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-31503))
    );
    assert_eq!(client.receive(), Value::Null);
    eventually("nothing is left", || client.host.is_idle());
}

/// A client whose lines are not read any more answers nothing.
#[test]
fn a_call_that_asked_its_client_ends_with_the_input() {
    let mut client = client();
    client.send(&json!({
        "jsonrpc": "2.0", "id": "i", "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"roots": {}},
            "clientInfo": {"name": "client", "version": "1"},
        },
    }));
    client.receive();
    let hold = json!({"name": "hold", "arguments": {}});
    for id in 1..=2 {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": hold}));
        held(&client, id);
    }
    let roots = InputQuestion {
        key: None,
        request: br#"{"method":"roots/list"}"#.to_vec(),
    };
    let (calls, number) = (client.host.calls(), client.host.held()[0]);
    calls.ask(number, Worker, vec![roots], false, client.host.buffers());
    assert_eq!(client.receive()["method"], "roots/list");
    client.input = None;
    assert_eq!(client.receive()["method"], "notifications/cancelled");
    let answer = client.receive();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-31503))
    );
    client.host.release();
    let other = client.receive();
    assert_eq!(other["result"]["content"][0]["text"], "released");
    assert_eq!(client.receive(), Value::Null);
    client.end();
    assert!(client.host.is_idle());
}
