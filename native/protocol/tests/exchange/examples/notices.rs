//! Examples of what a running call tells its client.

use mcp_protocol::{Amount, LogLevel, Notice, Now};
use serde_json::{Value, json};

use crate::harness::{Server, asking_for, call};

const NOW: Now = Now {
    wall_ms: 0,
    monotonic_ms: 0,
};

/// The message, or its `params`, is what our notice becomes.
fn assert_becomes(file: &str, example: &Value, meta: Value, notice: Notice<'_>) {
    let mut server = Server::new();
    let request = asking_for(call("now", json!({})), &meta);
    let mut notifier = server.notifier(&request);
    let frame = notifier.frame(NOW, notice).unwrap().expect("it is sent");
    let message: Value = serde_json::from_slice(&frame.bytes).unwrap();
    match example.get("method") {
        Some(_) => assert_eq!(&message, example, "{file}"),
        None => assert_eq!(&message["params"], example, "{file}"),
    }
}

fn params(example: &Value) -> &Value {
    example.get("params").unwrap_or(example)
}

pub fn log(file: &str, example: &Value) {
    let params = params(example);
    let data = params["data"].to_string();
    let notice = Notice::Log {
        level: LogLevel::parse(params["level"].as_str().unwrap()).unwrap(),
        logger: params["logger"].as_str(),
        data: data.as_bytes(),
    };
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    assert_becomes(file, example, meta, notice);
}

pub fn progress(file: &str, example: &Value) {
    let params = params(example);
    let amount = |member: &str| Amount::Integer(params[member].as_i64().unwrap());
    let notice = Notice::Progress {
        progress: amount("progress"),
        total: Some(amount("total")),
        message: params["message"].as_str(),
    };
    let meta = json!({"progressToken": params["progressToken"]});
    assert_becomes(file, example, meta, notice);
}
