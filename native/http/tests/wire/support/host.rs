//! The host: `echo` sends its text back, `hold` waits until told, `lie` breaks its output schema.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use mcp_driver::{
    Acceptance, Buffers, CallLimits, CallNumber, Calls, CancelReason, Event, Host, Route, Token,
};
use mcp_protocol::{
    Ask, CacheHints, Call, CallOutcome, Catalog, Config, Endpoint, Hosts, Input, Keys, LogLevel,
    Origins, Shared, ToolDefinition, ToolLimits, ToolResult,
};
use serde_json::json;

/// Answers on a thread of its own, as an application would.
pub struct TestHost {
    shared: Arc<Shared>,
    calls: Arc<Calls<()>>,
    buffers: Arc<Buffers>,
    jobs: Mutex<mpsc::Sender<CallNumber>>,
    held: Arc<Mutex<Vec<Token<()>>>>,
    cancelled: Mutex<Vec<CancelReason>>,
    events: Mutex<Vec<Event>>,
}

impl TestHost {
    pub fn start(max_buffered_bytes: usize) -> Arc<Self> {
        let (jobs, taken) = mpsc::channel();
        let limits = CallLimits {
            max_calls: 1_000,
            max_calls_per_principal: 1_000,
        };
        let host = Arc::new(Self {
            shared: shared(),
            calls: Calls::new(limits),
            buffers: Buffers::new(max_buffered_bytes),
            jobs: Mutex::new(jobs),
            held: Arc::default(),
            cancelled: Mutex::default(),
            events: Mutex::default(),
        });
        let (calls, held) = (Arc::clone(&host.calls), Arc::clone(&host.held));
        thread::spawn(move || {
            for job in taken {
                take(&calls, &held, job);
            }
        });
        host
    }

    /// How many calls of `hold` wait.
    pub fn held(&self) -> usize {
        self.held.lock().unwrap().len()
    }

    /// Answers every call of `hold`.
    pub fn release(&self) {
        for token in self.held.lock().unwrap().drain(..) {
            token.reply(text("released"));
        }
    }

    pub fn cancelled(&self) -> Vec<CancelReason> {
        self.cancelled.lock().unwrap().clone()
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }
}

impl Host for TestHost {
    type Worker = ();

    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn calls(&self) -> &Arc<Calls<()>> {
        &self.calls
    }

    fn buffers(&self) -> &Arc<Buffers> {
        &self.buffers
    }

    fn route(&self) -> Option<Route> {
        Some(Route(0))
    }

    fn dispatch(&self, call: CallNumber, _route: Route) {
        self.jobs.lock().unwrap().send(call).unwrap();
    }

    fn cancel(&self, _call: CallNumber, _route: (), reason: CancelReason) {
        self.cancelled.lock().unwrap().push(reason);
    }

    fn answered(&self, _call: CallNumber, _worker: ()) {}

    fn record(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }
}

/// A body that calls `tool` with `text`.
pub fn call(tool: &str, text: &str) -> String {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": {"text": text},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
    .to_string()
}

/// The head of a request that calls `tool`, without its end, its `Host` and what says how long the body is.
pub fn head(tool: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
    )
}

/// A whole request that calls `tool` with `text`.
pub fn post(tool: &str, text: &str) -> String {
    let (head, body) = (head(tool), call(tool, text));
    format!(
        "{head}host: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The same, its body in chunks of `size` bytes.
pub fn chunked(tool: &str, text: &str, size: usize) -> String {
    let (head, body) = (head(tool), call(tool, text));
    let chunks = body.as_bytes().chunks(size).map(|chunk| {
        let chunk = std::str::from_utf8(chunk).unwrap();
        format!("{:x}\r\n{chunk}\r\n", chunk.len())
    });
    let chunks: Vec<String> = chunks.collect();
    format!(
        "{head}host: localhost\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunks.concat()
    )
}

pub fn endpoint() -> Endpoint {
    Endpoint {
        path: "/mcp".into(),
        allowed_origins: Origins::List(Vec::new()),
        allowed_hosts: Hosts::Loopback,
        hook: 0,
        authorize: false,
        authorize_body: false,
        max_body_bytes: 10_000,
        secure: false,
    }
}

fn take(calls: &Arc<Calls<()>>, held: &Mutex<Vec<Token<()>>>, job: CallNumber) {
    let Acceptance::Accepted(accepted) = calls.accept(job, (), |_| true) else {
        return;
    };
    let Ask::Call(call) = accepted.ask else {
        panic!("asked for something other than a call");
    };
    match &**call.target.name() {
        "hold" => held.lock().unwrap().push(accepted.token),
        _ => assert!(accepted.token.reply(text(&text_of(&call)))),
    }
}

fn text_of(call: &Call) -> String {
    let arguments = call.context.message().node(call.arguments.unwrap());
    arguments.get("text").unwrap().as_str().unwrap().to_string()
}

fn text(text: &str) -> Input {
    let content = json!([{"type": "text", "text": text}]);
    Input::Outcome(CallOutcome::Tool(ToolResult {
        content: content.to_string().into_bytes(),
        ..ToolResult::default()
    }))
}

fn shared() -> Arc<Shared> {
    let info: Box<str> = r#"{"name":"test","version":"1"}"#.into();
    let config = Config {
        server_info: [info.clone(), info.clone(), info],
        instructions: None,
        page_size: 100,
        caller_catalog: false,
        json: mcp_json::Limits::default(),
        schema: mcp_schema::Limits::default(),
        call_timeout_ms: 30_000,
        stream_after_ms: 5_000,
        request_state_ttl_ms: 900_000,
        log_level: LogLevel::Info,
        hook_timeout_ms: 5_000,
        max_result_bytes: 20_000_000,
        context_headers: Vec::new(),
        cache: CacheHints::default(),
        allow_public_cache: false,
        completes: false,
    };
    let lie = ToolDefinition {
        output_schema: Some(json!({"type": "object"})),
        ..tool("lie")
    };
    let catalog = Catalog::compile(vec![tool("echo"), tool("hold"), lie], &config).unwrap();
    Arc::new(Shared {
        config: Arc::new(config),
        catalog: Arc::new(catalog),
        keys: Arc::new(Keys::derive(&[vec![7; 32]])),
    })
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        title: None,
        description: None,
        input_schema: Some(json!({
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        })),
        output_schema: None,
        annotations: None,
        icons: None,
        meta: None,
        limits: ToolLimits::default(),
        handler: Arc::new(()),
    }
}
