//! A host with two tools, and a client that talks to it through descriptors.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    os::fd::OwnedFd,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use mcp_driver::{
    Acceptance, Buffers, CallLimits, CallNumber, Calls, CancelReason, Event, Host, Route, Token,
};
use mcp_protocol::{
    Ask, CacheHints, Call, CallOutcome, Catalog, Config, Input, Keys, LogLevel, Shared,
    ToolDefinition, ToolLimits, ToolResult,
};
use mcp_stdio::{End, Options, Pipe, Sink, Source};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Handle};

/// `echo` answers with its arguments as text; `slow` answers when [`TestHost::release`] says so.
pub struct TestHost {
    shared: Arc<Shared>,
    calls: Arc<Calls<()>>,
    buffers: Arc<Buffers>,
    jobs: mpsc::Sender<CallNumber>,
    slow: Arc<Mutex<Vec<Token<()>>>>,
    pub cancelled: Mutex<Vec<CancelReason>>,
    pub events: Mutex<Vec<Event>>,
}

impl TestHost {
    pub fn new(max_calls: usize, max_buffered_bytes: usize) -> Arc<Self> {
        Self::with(max_calls, max_buffered_bytes, false)
    }

    /// A host whose catalog depends on the caller, and never comes.
    pub fn with_caller_catalog() -> Arc<Self> {
        Self::with(10, 1 << 20, true)
    }

    fn with(max_calls: usize, max_buffered_bytes: usize, caller_catalog: bool) -> Arc<Self> {
        let limits = CallLimits {
            max_calls,
            max_calls_per_principal: max_calls,
        };
        let calls = Calls::new(limits);
        let slow = Arc::default();
        let (jobs, taken) = mpsc::channel();
        thread::spawn({
            let (calls, slow) = (Arc::clone(&calls), Arc::clone(&slow));
            move || serve(&taken, &calls, &slow)
        });
        Arc::new(Self {
            shared: Arc::new(shared(caller_catalog)),
            calls,
            buffers: Buffers::new(max_buffered_bytes),
            jobs,
            slow,
            cancelled: Mutex::default(),
            events: Mutex::default(),
        })
    }

    /// Waits until `count` slow calls run.
    pub fn wait_for_slow(&self, count: usize) {
        eventually(|| self.slow.lock().unwrap().len() == count);
    }

    /// Answers the slow calls that run.
    pub fn release(&self) {
        for token in self.slow.lock().unwrap().drain(..) {
            token.reply(text("released"));
        }
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
        self.jobs.send(call).unwrap();
    }

    fn cancel(&self, call: CallNumber, _route: (), reason: CancelReason) {
        self.cancelled.lock().unwrap().push(reason);
        self.slow
            .lock()
            .unwrap()
            .retain(|token| token.number() != call);
    }

    fn answered(&self, _call: CallNumber, _worker: ()) {}

    fn record(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }
}

/// The other end of a pipe.
pub struct Client {
    pub host: Arc<TestHost>,
    pub pipe: Pipe,
    pub input: Option<File>,
    pub output: BufReader<File>,
    pub ended: mpsc::Receiver<End>,
}

impl Client {
    /// Connects over a pair of pipes.
    pub fn new(host: Arc<TestHost>, options: Options) -> Self {
        let (theirs_in, ours_in) = io::pipe().unwrap();
        let (ours_out, theirs_out) = io::pipe().unwrap();
        Self::over(
            host,
            options,
            (theirs_in.into(), theirs_out.into()),
            (ours_in.into(), ours_out.into()),
        )
    }

    /// Connects over the descriptors given: the server's input and output, the client's input and output.
    pub fn over(
        host: Arc<TestHost>,
        options: Options,
        theirs: (OwnedFd, OwnedFd),
        ours: (OwnedFd, OwnedFd),
    ) -> Self {
        let (on_end, ended) = mpsc::channel();
        let pipe = Pipe::start(
            Arc::clone(&host),
            &worker(),
            Source::Descriptor(theirs.0),
            Sink::Descriptor(theirs.1),
            options,
            move |end| on_end.send(end).unwrap(),
        )
        .unwrap();
        Self {
            host,
            pipe,
            input: Some(ours.0.into()),
            output: BufReader::new(ours.1.into()),
            ended,
        }
    }

    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes.as_ref()).unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n"));
    }

    /// The next message; `Null` at the end of the output.
    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        match self.output.read_line(&mut line).unwrap() {
            0 => Value::Null,
            _ => serde_json::from_str(&line).unwrap(),
        }
    }

    pub fn end(&self) -> End {
        self.ended.recv_timeout(Duration::from_secs(10)).unwrap()
    }
}

/// A modern `tools/call`.
pub fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id.into(),
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
}

pub fn cancel(id: impl Into<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": id.into()},
    })
}

/// Waits for what happens on another thread.
pub fn eventually(mut holds: impl FnMut() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("did not come true within 5 s");
}

/// A thread with a runtime of its own, as transports have them.
fn worker() -> Handle {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
}

fn serve(jobs: &mpsc::Receiver<CallNumber>, calls: &Arc<Calls<()>>, slow: &Mutex<Vec<Token<()>>>) {
    for number in jobs {
        let Acceptance::Accepted(job) = calls.accept(number, (), |_| true) else {
            continue;
        };
        match &job.ask {
            Ask::Call(call) if **call.target.name() == *"echo" => {
                job.token.reply(text(arguments(call)));
            }
            _ => slow.lock().unwrap().push(job.token),
        }
    }
}

fn arguments(call: &Call) -> &str {
    call.arguments
        .map_or("{}", |node| call.context.message().node(node).raw())
}

fn text(text: &str) -> Input {
    let content = json!([{"type": "text", "text": text}]);
    Input::Outcome(CallOutcome::Tool(ToolResult {
        content: content.to_string().into_bytes(),
        ..ToolResult::default()
    }))
}

fn shared(caller_catalog: bool) -> Shared {
    let server = || r#"{"name":"test","version":"1"}"#.into();
    let config = Config {
        server_info: [server(), server(), server()],
        instructions: None,
        page_size: 100,
        caller_catalog,
        json: mcp_json::Limits::default(),
        schema: mcp_schema::Limits::default(),
        call_timeout_ms: 60_000,
        stream_after_ms: 5_000,
        request_state_ttl_ms: 900_000,
        log_level: LogLevel::Info,
        hook_timeout_ms: 2_000,
        max_result_bytes: 2_000_000,
        context_headers: Vec::new(),
        cache: CacheHints::default(),
        allow_public_cache: false,
        completes: false,
    };
    let catalog = Catalog::compile(vec![tool("echo"), tool("slow")], &config).unwrap();
    Shared {
        config: Arc::new(config),
        catalog: Arc::new(catalog),
        keys: Arc::new(Keys::derive(&[vec![7; 32]])),
    }
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        title: None,
        description: None,
        input_schema: Some(json!({"type": "object"})),
        output_schema: None,
        annotations: None,
        icons: None,
        meta: None,
        limits: ToolLimits::default(),
        handler: Arc::new(()),
    }
}
