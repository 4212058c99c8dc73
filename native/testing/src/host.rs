//! A host without processes: its calls wait until a test takes them, or a thread serves them.

use std::{
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use mcp_auth::{Binding, Facts};
use mcp_driver::{
    Acceptance, Accepted, Buffers, CallNumber, Calls, CancelReason, DetachedStreams, Event, Host,
    Route, Sent, Subscribers, Token,
};
use mcp_json::Node;
use mcp_protocol::{Ask, Call, Identity, Notice, Principal, Shared};
use tokio::sync::mpsc;

use crate::{message::text, settings::Settings};

/// The one process that takes calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Worker;

/// Keeps what it is told.
pub struct TestHost {
    shared: Arc<Shared>,
    calls: Arc<Calls<Worker>>,
    subscribers: Arc<Subscribers>,
    detached: Arc<DetachedStreams<Self>>,
    buffers: Arc<Buffers>,
    route: Mutex<Option<Route>>,
    /// Until it is closed.
    handed_over: Mutex<Option<mpsc::UnboundedSender<CallNumber>>>,
    waiting: tokio::sync::Mutex<mpsc::UnboundedReceiver<CallNumber>>,
    held: Mutex<Vec<Token<Worker>>>,
    cancelled: Mutex<Vec<(CallNumber, CancelReason)>>,
    answered: Mutex<Vec<CallNumber>>,
    events: Mutex<Vec<Event>>,
}

impl TestHost {
    /// A host whose calls wait to be taken.
    pub fn new() -> Arc<Self> {
        Self::with(|_| ())
    }

    /// The same with other settings.
    pub fn with(change: impl FnOnce(&mut Settings)) -> Arc<Self> {
        let mut settings = Settings::default();
        change(&mut settings);
        let (handed_over, waiting) = mpsc::unbounded_channel();
        Arc::new(Self {
            calls: Calls::new(settings.limits),
            subscribers: Subscribers::new(settings.subscriptions),
            detached: DetachedStreams::new(),
            buffers: Buffers::new(settings.max_buffered_bytes),
            shared: Arc::new(settings.shared()),
            route: Mutex::new(Some(Route(0))),
            handed_over: Mutex::new(Some(handed_over)),
            waiting: tokio::sync::Mutex::new(waiting),
            held: Mutex::default(),
            cancelled: Mutex::default(),
            answered: Mutex::default(),
            events: Mutex::default(),
        })
    }

    /// A host that answers by itself, on a thread: `hold` and whatever is no call when told to, all else with its
    /// argument `text`, or with all of its arguments.
    pub fn serving(change: impl FnOnce(&mut Settings)) -> Arc<Self> {
        let host = Self::with(change);
        let serving = Arc::clone(&host);
        thread::spawn(move || {
            while let Some(number) = serving.blocking_next() {
                serving.serve(number);
            }
        });
        host
    }

    /// The next call that was handed over.
    ///
    /// # Panics
    /// When the host was closed.
    pub async fn next(&self) -> CallNumber {
        let next = self.waiting.lock().await.recv().await;
        next.expect("the host is open")
    }

    /// The same for a thread that has nothing else to do; `None` once closed.
    pub fn blocking_next(&self) -> Option<CallNumber> {
        self.waiting.blocking_lock().blocking_recv()
    }

    /// The next call, taken.
    ///
    /// # Panics
    /// When nobody waits for it any more.
    pub async fn taken(&self) -> Accepted<Worker> {
        let number = self.next().await;
        self.accept(number).expect("the call waits")
    }

    /// This call, taken, if it still waits.
    pub fn accept(&self, number: CallNumber) -> Option<Accepted<Worker>> {
        match self.calls.accept(number, Worker, |_| true) {
            Acceptance::Accepted(accepted) => Some(accepted),
            Acceptance::Declined | Acceptance::Gone => None,
        }
    }

    /// No call will come any more.
    pub fn close(&self) {
        lock(&self.handed_over).take();
    }

    /// From now on calls go by this route, or are not handed on at all.
    pub fn set_route(&self, route: Option<Route>) {
        *lock(&self.route) = route;
    }

    /// Tells the client of a call.
    pub fn notify(&self, number: CallNumber, notice: Notice<'_>) -> Sent {
        self.calls.notify(number, notice, &self.buffers)
    }

    /// The calls that are held, oldest first.
    pub fn held(&self) -> Vec<CallNumber> {
        lock(&self.held).iter().map(Token::number).collect()
    }

    /// Answers every call that is held.
    pub fn release(&self) {
        for token in mem::take(&mut *lock(&self.held)) {
            token.reply(text("released"));
        }
    }

    /// What it was told to stop, and why.
    pub fn cancelled(&self) -> Vec<(CallNumber, CancelReason)> {
        lock(&self.cancelled).clone()
    }

    /// Why it was told to stop calls.
    pub fn cancel_reasons(&self) -> Vec<CancelReason> {
        let cancelled = self.cancelled();
        cancelled.into_iter().map(|(_, reason)| reason).collect()
    }

    /// The calls whose clients have answered all that was asked.
    pub fn answered(&self) -> Vec<CallNumber> {
        lock(&self.answered).clone()
    }

    /// What it was told of.
    pub fn events(&self) -> Vec<Event> {
        lock(&self.events).clone()
    }

    /// Whether nothing is left of any call.
    pub fn is_idle(&self) -> bool {
        let counts = (
            self.calls.in_flight(),
            self.calls.tokens(),
            self.buffers.held(),
            self.subscribers.streams(),
        );
        counts == (0, 0, 0, 0) && self.calls.workers().is_empty()
    }

    fn serve(&self, number: CallNumber) {
        let Some(Accepted { token, ask }) = self.accept(number) else {
            return;
        };
        match &ask {
            Ask::Call(call) if **call.target.name() != *"hold" => {
                // A client that left meanwhile takes no answer.
                let _ = token.reply(text(&words(call)));
            }
            _ => lock(&self.held).push(token),
        }
    }
}

impl Host for TestHost {
    type Worker = Worker;

    fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    fn calls(&self) -> &Arc<Calls<Worker>> {
        &self.calls
    }

    fn subscribers(&self) -> &Arc<Subscribers> {
        &self.subscribers
    }

    fn detached(&self) -> &Arc<DetachedStreams<Self>> {
        &self.detached
    }

    fn buffers(&self) -> &Arc<Buffers> {
        &self.buffers
    }

    fn route(&self) -> Option<Route> {
        *lock(&self.route)
    }

    fn dispatch(&self, call: CallNumber, _route: Route) {
        if let Some(handed_over) = &*lock(&self.handed_over) {
            // The receiver lives as long as this.
            let _ = handed_over.send(call);
        }
    }

    fn cancel(&self, call: CallNumber, _worker: Worker, reason: CancelReason) {
        lock(&self.cancelled).push((call, reason));
        let mut held = lock(&self.held);
        let stopped: Vec<_> = held
            .extract_if(.., |token| token.number() == call)
            .collect();
        drop(held);
        drop(stopped);
    }

    fn answered(&self, call: CallNumber, _worker: Worker) {
        lock(&self.answered).push(call);
    }

    fn identify(&self, facts: &Facts, binding: Binding) -> Identity {
        let scopes: Vec<_> = facts.scopes.iter().collect();
        let term = format!(
            "{} {} {}",
            facts.subject,
            binding.as_str(),
            scopes.join(",")
        );
        Identity {
            principal: Principal::new(&facts.binding_key(None)),
            scopes: Some(Arc::new(facts.scopes.clone())),
            term: term.into(),
        }
    }

    fn record(&self, event: Event) {
        lock(&self.events).push(event);
    }
}

/// Shows how many calls are in flight.
impl fmt::Debug for TestHost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "TestHost({} calls in flight)", self.calls.in_flight())
    }
}

fn words(call: &Call) -> String {
    let Some(arguments) = call.arguments else {
        return "{}".into();
    };
    let arguments = call.context.message().node(arguments);
    let text = arguments.get("text").and_then(Node::as_str);
    text.map_or_else(|| arguments.raw().to_owned(), Into::into)
}

/// A test that panicked has failed already.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
