//! An application that does nothing by itself: tests take its jobs and answer them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use mcp_driver::{
    Acceptance, Accepted, Buffers, CallLimits, CallNumber, CallStream, Calls, CancelReason, Event,
    Host, Part, Route, Served, now, run,
};
use mcp_protocol::{
    Answer, Authorized, CacheHints, CallOutcome, Catalog, Config, Endpoint, Exchange, Hosts,
    Identity, Input, Keys, Line, LogLevel, Origins, Peer, Pipe, Principal, RequestHead, Revision,
    Session, SessionAnswer, Shared, Step, ToolDefinition, ToolLimits, ToolResult,
};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};

/// How long a call and a hook may take.
pub const CALL_TIMEOUT_MS: u64 = 30_000;
pub const HOOK_TIMEOUT_MS: u64 = 5_000;

/// The one process that takes calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Worker;

/// Keeps what it is told.
pub struct Application {
    shared: Arc<Shared>,
    calls: Arc<Calls<Worker>>,
    buffers: Arc<Buffers>,
    /// Who takes jobs; nobody when `None`.
    pub route: Mutex<Option<Route>>,
    /// Until it is closed.
    jobs: Mutex<Option<mpsc::UnboundedSender<CallNumber>>>,
    waiting: tokio::sync::Mutex<mpsc::UnboundedReceiver<CallNumber>>,
    cancelled: Mutex<Vec<(CallNumber, CancelReason)>>,
    messages: Mutex<Vec<String>>,
    answered: Mutex<Vec<CallNumber>>,
}

impl Application {
    /// Has room for many calls.
    pub fn new() -> Arc<Self> {
        Self::limited(1_000, 1_000)
    }

    /// Has room for so many calls, and so many of one principal.
    pub fn limited(max_calls: usize, max_calls_per_principal: usize) -> Arc<Self> {
        let (jobs, waiting) = mpsc::unbounded_channel();
        let limits = CallLimits {
            max_calls,
            max_calls_per_principal,
        };
        Arc::new(Self {
            shared: Arc::new(shared()),
            calls: Calls::new(limits),
            buffers: Buffers::new(1 << 20),
            route: Mutex::new(Some(Route(0))),
            jobs: Mutex::new(Some(jobs)),
            waiting: tokio::sync::Mutex::new(waiting),
            cancelled: Mutex::default(),
            messages: Mutex::default(),
            answered: Mutex::default(),
        })
    }

    /// The next job that was handed over.
    pub async fn job(&self) -> CallNumber {
        self.waiting.lock().await.recv().await.expect("it is open")
    }

    /// The next job, for a thread that has nothing else to do; `None` once closed.
    pub fn blocking_job(&self) -> Option<CallNumber> {
        self.waiting.blocking_lock().blocking_recv()
    }

    /// No job will come any more.
    pub fn close(&self) {
        self.jobs.lock().unwrap().take();
    }

    /// The next job, taken.
    pub async fn taken(&self) -> Accepted<Worker> {
        let job = self.job().await;
        self.accept(job).expect("the job waits")
    }

    /// This job, taken, if it still waits.
    pub fn accept(&self, job: CallNumber) -> Option<Accepted<Worker>> {
        match self.calls.accept(job, Worker, |_| true) {
            Acceptance::Accepted(accepted) => Some(accepted),
            Acceptance::Declined => panic!("it takes every job"),
            Acceptance::Gone => None,
        }
    }

    /// Reads a stream to its end and keeps its messages.
    async fn collect(&self, mut stream: CallStream<Self>) -> Answer {
        loop {
            match stream.next(Duration::MAX).await {
                Part::Frame(frame) => {
                    let text = String::from_utf8(frame).expect("messages are text");
                    self.messages.lock().unwrap().push(text);
                }
                Part::Quiet => panic!("it waits for ever"),
                Part::Answer(answer) => return *answer,
            }
        }
    }

    /// The messages that streams brought so far.
    pub fn messages(&self) -> Vec<String> {
        self.messages.lock().unwrap().clone()
    }

    /// The calls whose answers it was told of.
    pub fn answered(&self) -> Vec<CallNumber> {
        self.answered.lock().unwrap().clone()
    }

    /// What it was told to stop.
    pub fn cancelled(&self) -> Vec<(CallNumber, CancelReason)> {
        self.cancelled.lock().unwrap().clone()
    }

    /// Nothing is left of any call.
    pub fn assert_idle(&self) {
        assert_eq!((self.calls.in_flight(), self.calls.tokens()), (0, 0));
        assert!(self.calls.workers().is_empty());
    }
}

impl Host for Application {
    type Worker = Worker;

    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn calls(&self) -> &Arc<Calls<Worker>> {
        &self.calls
    }

    fn buffers(&self) -> &Arc<Buffers> {
        &self.buffers
    }

    fn route(&self) -> Option<Route> {
        *self.route.lock().unwrap()
    }

    fn dispatch(&self, call: CallNumber, _route: Route) {
        let jobs = self.jobs.lock().unwrap();
        jobs.as_ref()
            .expect("it is open")
            .send(call)
            .expect("the receiver lives as long");
    }

    fn cancel(&self, call: CallNumber, _worker: Worker, reason: CancelReason) {
        self.cancelled.lock().unwrap().push((call, reason));
    }

    fn answered(&self, call: CallNumber, _worker: Worker) {
        self.answered.lock().unwrap().push(call);
    }

    fn record(&self, _event: Event) {}
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
pub fn line(application: &Arc<Application>, pipe: &Pipe, message: &Value) -> JoinHandle<Answer> {
    let text = Bytes::from(message.to_string());
    let (exchange, step) = Exchange::line(application.shared(), now(), Line::Whole(text), pipe);
    serve(application, exchange, step, Bytes::new())
}

/// Serves a message of the legacy session `s1` by HTTP.
pub fn in_session(
    application: &Arc<Application>,
    verb: &str,
    message: &Value,
) -> JoinHandle<Answer> {
    let headers = [
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Session-Id", "s1"),
    ];
    http(application, &endpoint(false), verb, &headers, message)
}

/// Serves a modern call of `tool` by HTTP.
pub fn modern(application: &Arc<Application>, endpoint: &Endpoint) -> JoinHandle<Answer> {
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "tool"),
    ];
    http(application, endpoint, "POST", &headers, &call(json!(1)))
}

fn http(
    application: &Arc<Application>,
    endpoint: &Endpoint,
    verb: &str,
    headers: &[(&str, &str)],
    message: &Value,
) -> JoinHandle<Answer> {
    let mut head = RequestHead::new(verb, "/mcp", Peer::Unix);
    let common = [("Host", "localhost"), ("Content-Type", "application/json")];
    for (name, value) in common.iter().chain(headers) {
        head.push(name, value.as_bytes());
    }
    let (exchange, step) = Exchange::http(application.shared(), Arc::new(endpoint.clone()), head);
    serve(application, exchange, step, message.to_string().into())
}

fn serve(
    application: &Arc<Application>,
    exchange: Exchange,
    step: Step,
    body: Bytes,
) -> JoinHandle<Answer> {
    let application = Arc::clone(application);
    tokio::spawn(async move {
        let served = run(&application, exchange, step, async |_| Input::Body(body)).await;
        match served {
            Served::Answer(answer) => answer,
            Served::Stream(stream) => application.collect(*stream).await,
        }
    })
}

/// A modern call of `tool`.
pub fn call(id: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "tool", "_meta": meta}})
}

/// A legacy call of `tool`.
pub fn legacy_call(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "tool"}})
}

/// A cancellation.
pub fn cancel(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

/// A result of `tool`.
pub fn text(text: &str) -> Input {
    let content = json!([{"type": "text", "text": text}])
        .to_string()
        .into_bytes();
    Input::Outcome(CallOutcome::Tool(ToolResult {
        content,
        ..ToolResult::default()
    }))
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
    if answer.body.is_empty() {
        return "nothing".into();
    }
    let message: Value = serde_json::from_slice(&answer.body).expect("one JSON value");
    match message["error"]["code"].as_i64() {
        Some(code) => code.to_string(),
        None => message["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or("no text")
            .into(),
    }
}

pub fn endpoint(authorize: bool) -> Endpoint {
    Endpoint {
        path: "/mcp".into(),
        allowed_origins: Origins::Any,
        allowed_hosts: Hosts::Any,
        authorize,
        authorize_body: false,
        hook: 0,
        max_body_bytes: 1 << 20,
        secure: false,
    }
}

fn identity(name: &str) -> Identity {
    Identity {
        principal: Principal::new(name.as_bytes()),
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
    }
}

fn shared() -> Shared {
    let config = Config {
        server_info: ["{}"; 3].map(Into::into),
        instructions: None,
        page_size: 100,
        caller_catalog: false,
        json: mcp_json::Limits::default(),
        schema: mcp_schema::Limits::default(),
        call_timeout_ms: CALL_TIMEOUT_MS,
        stream_after_ms: 5_000,
        request_state_ttl_ms: 900_000,
        log_level: LogLevel::Info,
        hook_timeout_ms: HOOK_TIMEOUT_MS,
        max_result_bytes: 1 << 20,
        context_headers: Vec::new(),
        cache: CacheHints::default(),
        allow_public_cache: false,
        completes: false,
    };
    let tool = ToolDefinition {
        name: "tool".into(),
        title: None,
        description: None,
        input_schema: None,
        output_schema: None,
        annotations: None,
        icons: None,
        meta: None,
        limits: ToolLimits::default(),
        handler: Arc::new(()),
    };
    Shared {
        catalog: Arc::new(Catalog::compile(vec![tool], &config).expect("one right definition")),
        config: Arc::new(config),
        keys: Arc::new(Keys::derive(&[vec![7; 32]])),
    }
}
