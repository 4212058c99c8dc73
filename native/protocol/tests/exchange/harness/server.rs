//! The core with a world around it and a clock that tests move by hand.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use bytes::Bytes;
use mcp_protocol::{
    Ask, Call, Catalog, Category, Change, Config, Definition, Edit, Endpoint, Exchange, Input,
    Inquiry, Keys, Line, Notifier, Now, Pipe, Revision, Scope, Shared, Step, Subscription,
};
use serde_json::{Value, json};

use super::{META, Post, Reply, World, config, describe, endpoint, modern, tools};

/// One instance: settings, catalog, one endpoint, one pipe.
pub struct Server {
    pub shared: Arc<Shared>,
    pub endpoint: Arc<Endpoint>,
    pub world: World,
    pub pipe: Pipe,
    pub now: Now,
}

/// An exchange that waits for something.
#[derive(Debug)]
pub struct Pending {
    pub exchange: Box<Exchange>,
    pub step: Step,
    body: Bytes,
    asked: Vec<String>,
}

impl Server {
    /// Serves the usual tools, compiled once for all tests.
    pub fn new() -> Self {
        static SHARED: LazyLock<Arc<Shared>> = LazyLock::new(|| Server::with(|_| ()).shared);
        Self::of(Arc::clone(&SHARED))
    }

    /// Serves the usual tools under other settings.
    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::offering(tools(), change)
    }

    /// Serves these definitions.
    pub fn offering(
        definitions: impl IntoIterator<Item = impl Into<Definition>>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = config();
        change(&mut config);
        let catalog = Catalog::compile(definitions, &config).expect("the definitions are right");
        Self::of(Arc::new(Shared {
            config: Arc::new(config),
            catalog: Arc::new(catalog),
            keys: Arc::new(Keys::derive(&[vec![7; 32]])),
        }))
    }

    /// Serves what was built before.
    pub fn of(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            endpoint: Arc::new(endpoint()),
            world: World::new(),
            pipe: Pipe {
                number: 1,
                session: None,
                identity: None,
            },
            now: Now {
                wall_ms: 1_800_000_000_000,
                monotonic_ms: 0,
            },
        }
    }

    /// The same behind an endpoint with other settings.
    pub fn at(mut self, change: impl FnOnce(&mut Endpoint)) -> Self {
        let mut endpoint = endpoint();
        change(&mut endpoint);
        self.endpoint = Arc::new(endpoint);
        self
    }

    /// Changes the catalog; the categories that changed.
    pub fn edit(&mut self, edits: Vec<Edit>) -> BTreeSet<Category> {
        let edited = self.shared.catalog.edit(edits, &self.shared.config);
        let edited = edited.expect("the definitions are right");
        self.shared = Arc::new(self.shared.with_catalog(Arc::new(edited.catalog)));
        edited.changed
    }

    /// Calls run this script.
    pub fn handling(mut self, handler: impl FnMut(&Call) -> Input + 'static) -> Self {
        self.world.handler = Box::new(handler);
        self
    }

    /// Serves one HTTP request to its end.
    pub fn post(&mut self, post: &Post) -> Reply {
        let pending = self.begin(post);
        self.settle(pending)
    }

    /// Serves one message as a line of the pipe.
    pub fn line(&mut self, message: &Value) -> Reply {
        self.bytes(message.to_string().into_bytes())
    }

    /// Serves any bytes as a line of the pipe.
    pub fn bytes(&mut self, line: impl Into<Bytes>) -> Reply {
        let pending = self.begin_line(Line::Whole(line.into()));
        self.settle(pending)
    }

    /// Starts an HTTP request.
    pub fn begin(&mut self, post: &Post) -> Pending {
        let (shared, endpoint) = (Arc::clone(&self.shared), Arc::clone(&self.endpoint));
        let (exchange, step) = Exchange::http(shared, endpoint, post.head());
        Pending::new(exchange, step, Bytes::copy_from_slice(post.bytes()))
    }

    /// Starts a line of the pipe, which keeps the session that the line opens.
    pub fn begin_line(&mut self, line: Line) -> Pending {
        let shared = Arc::clone(&self.shared);
        let (exchange, step) = Exchange::line(shared, self.now, line, &self.pipe);
        if let Some(session) = exchange.opens_session() {
            self.pipe.session = Some(session.clone());
        }
        Pending::new(exchange, step, Bytes::new())
    }

    /// Lets the world answer until the exchange has.
    pub fn settle(&mut self, mut pending: Pending) -> Reply {
        while pending.question().is_some() {
            pending = self.step(pending);
        }
        pending.reply()
    }

    /// Lets the world answer until a handler is asked for.
    pub fn until_called(&mut self, mut pending: Pending) -> Pending {
        while !pending.is_calling() {
            pending = self.step(pending);
        }
        pending
    }

    /// What the messages of a call are made with: `request` comes as a line and its handler runs.
    pub fn notifier(&mut self, request: &Value) -> Notifier {
        let line = Line::Whole(request.to_string().into());
        let pending = self.begin_line(line);
        self.until_called(pending).notifier()
    }

    /// Moves the clock.
    pub fn wait(&mut self, milliseconds: u64) {
        self.now.wall_ms += milliseconds;
        self.now.monotonic_ms += milliseconds;
    }

    /// Lets the world answer until a stream of changes begins.
    pub fn until_listening(&mut self, mut pending: Pending) -> Pending {
        while !matches!(pending.step, Step::Listen(_)) {
            pending = self.step(pending);
        }
        pending
    }

    /// Lets the world answer one question.
    pub fn step(&mut self, mut pending: Pending) -> Pending {
        let input = match pending.step {
            Step::Answer(answer) => panic!("over already: {answer:?}"),
            Step::Compute(computation) => Input::Computed(computation.run()),
            Step::Listen(_) => Input::Done,
            Step::Deliver(_) => panic!("nothing is delivered here"),
            Step::ReadBody { .. } => self.world.read(&pending.body),
            Step::Ask(question) => self.world.answer(&question.ask),
        };
        let step = pending.exchange.resume(self.now, input);
        Pending::next(pending.exchange, step, pending.body, pending.asked)
    }
}

impl Pending {
    /// Goes on with what a test says instead of the world.
    pub fn feed(mut self, now: Now, input: Input) -> Self {
        let step = self.exchange.resume(now, input);
        Self::next(self.exchange, step, self.body, self.asked)
    }

    /// The answer, which the exchange must have.
    pub fn reply(self) -> Reply {
        match self.step {
            Step::Answer(answer) => Reply {
                answer: *answer,
                asked: self.asked,
            },
            step => panic!("not over: {step:?}"),
        }
    }

    /// What is waited for, in words; nothing once the exchange is over.
    pub fn question(&self) -> Option<&str> {
        match &self.step {
            Step::Answer(_) => None,
            _ => self.asked.last().map(String::as_str),
        }
    }

    /// Who may resume the stream of the call that is asked for.
    pub fn resumable(&self) -> Option<Scope> {
        self.exchange.resumable()
    }

    /// The call that is asked for.
    pub fn call(&self) -> &Call {
        match &self.step {
            Step::Ask(question) => match &question.ask {
                Ask::Call(call) => call,
                ask => panic!("not a call: {ask:?}"),
            },
            step => panic!("not a question: {step:?}"),
        }
    }

    /// What the messages of the call that is asked for are made with.
    pub fn notifier(&mut self) -> Notifier {
        let Step::Ask(question) = &mut self.step else {
            panic!("not a question: {:?}", self.step);
        };
        let Ask::Call(call) = &mut question.ask else {
            panic!("not a call: {:?}", question.ask);
        };
        call.notifier.take().expect("nobody took it before")
    }

    /// What the call that is asked for asks its client with.
    pub fn inquiry(&mut self) -> Inquiry {
        let Step::Ask(question) = &mut self.step else {
            panic!("not a question: {:?}", self.step);
        };
        let Ask::Call(call) = &mut question.ask else {
            panic!("not a call: {:?}", question.ask);
        };
        *call.inquiry.take().expect("nobody took it before")
    }

    /// The subscription that begins here.
    pub fn subscription(&self) -> &Subscription {
        match &self.step {
            Step::Listen(subscription) => subscription,
            step => panic!("not a subscription: {step:?}"),
        }
    }

    /// What becomes of a change that waits, once the world was asked.
    pub fn recheck(mut self, server: &mut Server) -> Self {
        let step = self.exchange.recheck(server.now);
        self.decide(step, server)
    }

    /// What becomes of this change, once the world was asked.
    pub fn permit_change(mut self, server: &mut Server, change: &Change) -> Self {
        let catalog = Arc::clone(&server.shared.catalog);
        let step = self.exchange.permit_change(server.now, change, &catalog);
        self.decide(step, server)
    }

    fn decide(self, step: Step, server: &mut Server) -> Self {
        let mut decided = Self::next(self.exchange, step, self.body, self.asked);
        while matches!(decided.step, Step::Ask(_)) {
            decided = server.step(decided);
        }
        decided
    }

    /// How long the answer to what is asked may take.
    pub fn timeout_ms(&self) -> u64 {
        match &self.step {
            Step::Ask(question) => question.timeout_ms,
            step => panic!("not a question: {step:?}"),
        }
    }

    /// The body that the listener would read.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    fn is_calling(&self) -> bool {
        matches!(&self.step, Step::Ask(question) if matches!(question.ask, Ask::Call(_)))
    }

    fn new(exchange: Box<Exchange>, step: Step, body: Bytes) -> Self {
        Self::next(exchange, step, body, Vec::new())
    }

    fn next(exchange: Box<Exchange>, step: Step, body: Bytes, mut asked: Vec<String>) -> Self {
        match &step {
            Step::ReadBody { max_bytes } => asked.push(format!("body {max_bytes}")),
            Step::Ask(question) => asked.push(describe(&question.ask)),
            Step::Compute(_) => asked.push("compute".into()),
            Step::Listen(subscription) => {
                asked.push(format!("listen to {:?}", subscription.filter));
            }
            Step::Deliver(delivery) => asked.push(format!("deliver {delivery:?}")),
            Step::Answer(_) => (),
        }
        Self {
            exchange,
            step,
            body,
            asked,
        }
    }
}

/// The same call by each revision, newest first, without a session.
pub fn in_every_revision(server: &mut Server, tool: &str, arguments: &Value) -> [Reply; 3] {
    let params = json!({"name": tool, "arguments": arguments});
    by_every_revision(server, "tools/call", &params)
}

/// The same request by each revision, newest first, without a session.
pub fn by_every_revision(server: &mut Server, method: &str, params: &Value) -> [Reply; 3] {
    Revision::ALL.map(|revision| {
        let mut message = modern(method, params.clone());
        message["params"]["_meta"][META[0]] = revision.as_str().into();
        server.line(&message)
    })
}
