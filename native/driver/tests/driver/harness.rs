//! Messages on their way to a [`TestHost`], whose calls the tests take and answer by hand.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_driver::{CallLimits, Host, Part, Reservation, Served, Stream, now, run};
use mcp_protocol::{
    Answer, Authorized, Endpoint, Exchange, Identity, Input, Line, Peer, Pipe, Principal,
    RequestHead, Revision, Session, SessionAnswer, Step, Unanswered, Uris,
};
use mcp_testing::TestHost;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub use mcp_testing::{CALL_TIMEOUT_MS, HOOK_TIMEOUT_MS, cancel, text};

/// A host with room for so many calls, and so many of one principal.
pub fn limited(max_calls: usize, max_calls_per_principal: usize) -> Arc<TestHost> {
    TestHost::with(|settings| {
        settings.limits = CallLimits {
            max_calls,
            max_calls_per_principal,
        };
    })
}

/// A message that has arrived: its exchange, what that wants first, and the body to read.
pub struct Arrived {
    exchange: Box<Exchange>,
    step: Step,
    body: Bytes,
}

/// A client's pipe, with a legacy session and perhaps a name.
pub fn pipe(number: u64, name: Option<&str>) -> Pipe {
    Pipe {
        number,
        session: Some(session()),
        identity: name.map(identity),
    }
}

/// Serves a line.
pub fn line(host: &Arc<TestHost>, pipe: &Pipe, message: &Value) -> JoinHandle<Answer> {
    arrived_line(host, pipe, message).serve(host)
}

/// Serves a message of the legacy session `s1` by HTTP.
pub fn in_session(host: &Arc<TestHost>, verb: &str, message: &Value) -> JoinHandle<Answer> {
    arrived_in_session(host, verb, message).serve(host)
}

/// Serves a modern call by HTTP.
pub fn modern(host: &Arc<TestHost>, endpoint: &Endpoint) -> JoinHandle<Answer> {
    arrived_modern(host, endpoint).serve(host)
}

pub fn arrived_line(host: &Arc<TestHost>, pipe: &Pipe, message: &Value) -> Arrived {
    let text = Bytes::from(message.to_string());
    let (exchange, step) = Exchange::line(host.shared(), now(), Line::Whole(text), pipe);
    Arrived {
        exchange,
        step,
        body: Bytes::new(),
    }
}

pub fn arrived_in_session(host: &Arc<TestHost>, verb: &str, message: &Value) -> Arrived {
    let headers = [
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Session-Id", "s1"),
    ];
    http(host, &endpoint(false), verb, &headers, message)
}

/// Listens by HTTP or on a pipe.
pub fn listen(notifications: Value) -> Value {
    let mut message = call(json!(1));
    message["method"] = json!("subscriptions/listen");
    message["params"]["notifications"] = notifications;
    message
}

pub fn arrived_listening(host: &Arc<TestHost>, endpoint: &Endpoint, message: &Value) -> Arrived {
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    http(host, endpoint, "POST", &headers, message)
}

/// GET on the legacy session `s1`, perhaps after an event.
pub fn arrived_hearing(host: &Arc<TestHost>, last_event: Option<&str>) -> Arrived {
    let mut headers = vec![
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Session-Id", "s1"),
    ];
    headers.extend(last_event.map(|id| ("Last-Event-ID", id)));
    http(host, &endpoint(false), "GET", &headers, &Value::Null)
}

pub fn arrived_modern(host: &Arc<TestHost>, endpoint: &Endpoint) -> Arrived {
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "hold"),
    ];
    http(host, endpoint, "POST", &headers, &call(json!(1)))
}

fn http(
    host: &Arc<TestHost>,
    endpoint: &Endpoint,
    verb: &str,
    headers: &[(&str, &str)],
    message: &Value,
) -> Arrived {
    let mut head = RequestHead::new(verb, "/mcp", Peer::Unix);
    let common = [("Host", "localhost"), ("Content-Type", "application/json")];
    for (name, value) in common.iter().chain(headers) {
        head.push(&name.to_ascii_lowercase(), value.as_bytes());
    }
    let (exchange, step) = Exchange::http(host.shared(), Arc::new(endpoint.clone()), head);
    Arrived {
        exchange,
        step,
        body: message.to_string().into(),
    }
}

impl Arrived {
    /// Serves it to its end in a task of its own.
    fn serve(self, host: &Arc<TestHost>) -> JoinHandle<Answer> {
        let host = Arc::clone(host);
        tokio::spawn(async move {
            match self.run(&host).await {
                Served::Answer(answer, _) => answer,
                Served::Stream(stream) => read(*stream).await.1,
            }
        })
    }

    /// Serves it until it is answered, or a stream.
    pub fn begin(self, host: &Arc<TestHost>) -> JoinHandle<Served<TestHost>> {
        let host = Arc::clone(host);
        tokio::spawn(async move { self.run(&host).await })
    }

    async fn run(self, host: &Arc<TestHost>) -> Served<TestHost> {
        let read_body = async |_, _: &mut Reservation| Input::Body(self.body);
        let guard = async |_| Input::Unanswered(Unanswered::Failed);
        let room = host.buffers().reserve();
        run(host, self.exchange, self.step, room, read_body, guard).await
    }
}

/// Reads a stream to its end: its messages, and its answer.
pub async fn read(mut stream: Stream<TestHost>) -> (Vec<String>, Answer) {
    let mut messages = Vec::new();
    loop {
        match stream.next(Duration::MAX, pending()).await {
            Part::Frame(frame, _) => messages.push(String::from_utf8(frame).unwrap()),
            Part::Quiet => panic!("it waits for ever"),
            Part::Break => panic!("the rest comes elsewhere"),
            Part::Answer(answer, _) => return (messages, *answer),
        }
    }
}

/// A modern call.
pub fn call(id: Value) -> Value {
    mcp_testing::call(id, "hold", &json!({}))
}

/// A legacy call.
pub fn legacy_call(id: Value) -> Value {
    mcp_testing::legacy_call(id, "hold")
}

/// A store that found `s1`, opened by nobody in particular.
pub fn found() -> Input {
    Input::Session(SessionAnswer::Found(session()))
}

/// A hook that lets everybody in.
pub fn accepted() -> Input {
    Input::Authorized(Authorized::Accept(None))
}

/// The text of a result, or the number of an error.
pub fn said(answer: &Answer) -> String {
    let body = String::from_utf8(answer.body.clone()).expect("messages are text");
    let message = body.split_once("\ndata: ").map_or(&*body, |(_, data)| data);
    if message.is_empty() {
        return "nothing".into();
    }
    let message: Value = serde_json::from_str(message).expect("one JSON value");
    match message["error"]["code"].as_i64() {
        Some(code) => code.to_string(),
        None => message["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or("no text")
            .into(),
    }
}

/// An endpoint that asks the host for leave, or does not.
pub fn endpoint(authorize: bool) -> Endpoint {
    Endpoint {
        authorize,
        ..mcp_testing::endpoint()
    }
}

fn identity(name: &str) -> Identity {
    Identity {
        principal: Principal::new(name.as_bytes()),
        scopes: None,
        term: Bytes::new(),
    }
}

fn session() -> Session {
    Session {
        revision: Revision::R20251125,
        client_info: "{}".into(),
        client_capabilities: r#"{"roots":{}}"#.into(),
        principal: None,
        log_level: None,
        subscriptions: Uris::default(),
    }
}
