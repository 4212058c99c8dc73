//! The calls in flight of one instance: bounded, numbered, and each answered at most once.
//!
//! A call leaves the table when its token answers or is dropped, and before it is taken when whoever should hand it on is
//! gone. One that was cancelled or ran out of time keeps its place until then, so that work still running stays counted.

mod asking;

pub(crate) use asking::Answered;
pub use asking::Asking;

use std::{
    array,
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasherDefault, Hasher, RandomState},
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use crossbeam_utils::CachePadded;
use mcp_protocol::{
    Ask, Call, IdKey, Input, Inquiry, Limit, Notice, Notifier, Principal, Scope, Unanswered, Unsent,
};
use tokio::sync::oneshot;

use crate::{
    buffers::{Buffers, Reservation},
    clock::now,
    host::{CallNumber, Route},
    outbox::{Full, Outbox},
    token::Token,
};

/// How many calls may be in flight.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// In the instance.
    pub max_calls: usize,
    /// Of one principal, among those that a hook named.
    pub max_calls_per_principal: usize,
}

/// The table. `W` names the application's processes.
///
/// Threads that serve sockets open calls, others take and answer them: what both write stands apart, so that they do not
/// wait for each other's writes to what lies beside it.
pub struct Calls<W> {
    shards: [CachePadded<Mutex<Shard<W>>>; SHARDS],
    next: CachePadded<AtomicU64>,
    in_flight: CachePadded<AtomicUsize>,
    tokens: CachePadded<AtomicUsize>,
    streams: AtomicUsize,
    messages_dropped: AtomicU64,
    limits: CallLimits,
    /// Calls per principal; holds those with at least one.
    principals: Mutex<HashMap<Principal, usize>>,
    /// Makes ids of requests to clients that nobody can guess.
    ids: RandomState,
    /// Calls that a cancellation from elsewhere can reach.
    scopes: Mutex<HashMap<Scope, HashMap<IdKey, CallNumber>>>,
}

/// A call as its process takes it.
pub struct Accepted<W: Copy> {
    /// The right to answer.
    pub token: Token<W>,
    /// What is asked.
    pub ask: Ask,
}

/// What became of a process's wish to take a call.
pub enum Acceptance<W: Copy> {
    /// It has the call now.
    Accepted(Accepted<W>),
    /// It did not want this one, which waits on.
    Declined,
    /// There is no such call, or another has it, or nobody waits for it any more.
    Gone,
}

/// A call just entered.
pub(crate) struct Opened {
    pub(crate) number: CallNumber,
    pub(crate) answer: oneshot::Receiver<Response>,
}

/// What whoever waits for a call hears of it first.
pub(crate) enum Response {
    /// The outcome, and that is all.
    Outcome(Input, Spent),
    /// The call sends messages before its outcome; both come this way.
    Messages(Arc<Outbox>),
}

/// What a call was made of, on its way back to the thread that made it where that still waits: memory that another
/// thread frees costs both.
#[derive(Default)]
pub(crate) struct Spent {
    _call: Option<Box<Call>>,
    _inquiry: Option<Box<Inquiry>>,
}

/// What became of a message that a call sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sent {
    /// It goes out, or it, or an older one, was dropped and counted; or the client did not ask for it, or has its answer
    /// already, so that there is nothing to do.
    Done,
    /// The client does not read, and this kind of message is never dropped.
    Busy,
    /// Progress that does not exceed what was sent before.
    NotIncreasing,
    /// The client cannot come back for the rest of the response.
    NotResumable,
}

type Shard<W> = HashMap<CallNumber, Entered<W>, BuildHasherDefault<NumberHasher>>;

struct Entered<W> {
    stage: Stage<W>,
    /// Present until it is answered, cancelled or out of time.
    answer: Option<Waiter>,
    /// Present for what may send messages before its answer.
    notifier: Option<Notifier>,
    /// Present for what may ask its client.
    inquiry: Option<Box<Inquiry>>,
    /// Room for the answers.
    answers: Option<Reservation>,
    principal: Option<Principal>,
    cancel_key: Option<(Scope, IdKey)>,
}

/// Whoever waits for an answer.
enum Waiter {
    Once(oneshot::Sender<Response>),
    Streaming(Arc<Outbox>),
}

enum Stage<W> {
    /// No process has taken it yet.
    Waiting(Ask, Route),
    /// This process has.
    Taken(W),
}

const SHARDS: usize = 16;

/// So many calls in a row share a shard: those of one turn then find the memory of its table with the first of them.
const RUN: usize = 16;

impl<W: Copy> Calls<W> {
    /// An empty table.
    pub fn new(limits: CallLimits) -> Arc<Self> {
        Arc::new(Self {
            shards: array::from_fn(|_| CachePadded::default()),
            next: CachePadded::new(AtomicU64::new(1)),
            in_flight: CachePadded::default(),
            tokens: CachePadded::default(),
            streams: AtomicUsize::new(0),
            messages_dropped: AtomicU64::new(0),
            limits,
            principals: Mutex::default(),
            ids: RandomState::new(),
            scopes: Mutex::default(),
        })
    }

    /// Enters a call that goes by `route`.
    pub(crate) fn open(&self, mut ask: Ask, route: Route) -> Result<Opened, Unanswered> {
        let (principal, cancel_key) = accounting(&ask);
        self.admit()?;
        if let Err(refused) = self.admit_principal(principal.as_ref()) {
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
            return Err(refused);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if let Some((scope, id)) = &cancel_key
            && !self.register(scope, id, number)
        {
            self.release(principal.as_ref(), None);
            return Err(Unanswered::DuplicateId);
        }
        let (sender, answer) = oneshot::channel();
        let entered = Entered {
            answer: Some(Waiter::Once(sender)),
            notifier: notifier(&mut ask),
            inquiry: asking::inquiry(&mut ask),
            answers: None,
            stage: Stage::Waiting(ask, route),
            principal,
            cancel_key,
        };
        self.shard(number).insert(number, entered);
        Ok(Opened { number, answer })
    }

    /// Takes a call for `worker`, if it `wants` it.
    pub fn accept(
        self: &Arc<Self>,
        number: CallNumber,
        worker: W,
        wants: impl FnOnce(&Ask) -> bool,
    ) -> Acceptance<W> {
        let mut shard = self.shard(number);
        let Entry::Occupied(mut entry) = shard.entry(number) else {
            return Acceptance::Gone;
        };
        let Stage::Waiting(ask, _) = &entry.get().stage else {
            return Acceptance::Gone;
        };
        if !wants(ask) {
            return Acceptance::Declined;
        }
        if entry.get().answer.is_none() {
            let entered = entry.remove();
            drop(shard);
            self.forget(&entered);
            return Acceptance::Gone;
        }
        let Stage::Waiting(ask, _) = mem::replace(&mut entry.get_mut().stage, Stage::Taken(worker))
        else {
            return Acceptance::Gone;
        };
        drop(shard);
        let token = Token::new(Arc::clone(self), number);
        Acceptance::Accepted(Accepted { token, ask })
    }

    /// Answers a call and removes it. `false` when nobody waits any more.
    pub(crate) fn finish(
        &self,
        number: CallNumber,
        answer: Input,
        call: Option<Box<Call>>,
    ) -> bool {
        let entered = self.shard(number).remove(&number);
        entered.is_some_and(|entered| self.conclude(entered, answer, call))
    }

    /// Answers a call that was removed.
    fn conclude(&self, mut entered: Entered<W>, answer: Input, call: Option<Box<Call>>) -> bool {
        self.forget(&entered);
        let inquiry = entered.inquiry.take();
        let waiter = entered.answer.take();
        waiter.is_some_and(|waiter| {
            waiter.retract(inquiry.as_deref());
            let spent = Spent {
                _call: call,
                _inquiry: inquiry,
            };
            waiter.end(answer, spent)
        })
    }

    /// Sends a message of a call to its client, ahead of the answer.
    pub fn notify(&self, number: CallNumber, notice: Notice<'_>, buffers: &Arc<Buffers>) -> Sent {
        let mut shard = self.shard(number);
        let Some(entered) = shard.get_mut(&number) else {
            return Sent::Done;
        };
        let (Some(waiter), Some(notifier)) = (&mut entered.answer, &mut entered.notifier) else {
            return Sent::Done;
        };
        match notifier.frame(now(), notice) {
            Err(Unsent::NotIncreasing) => Sent::NotIncreasing,
            Err(Unsent::NotResumable) => Sent::NotResumable,
            Err(Unsent::TooMany) => self.dropped(1),
            Ok(None) => Sent::Done,
            Ok(Some(frame)) => match waiter.outbox(buffers).push(frame) {
                Ok(0) => Sent::Done,
                Ok(lost) => self.dropped(lost),
                Err(Full) => Sent::Busy,
            },
        }
    }

    /// Messages dropped since the start.
    pub fn messages_dropped(&self) -> u64 {
        self.messages_dropped.load(Ordering::Relaxed)
    }

    fn dropped(&self, count: u64) -> Sent {
        self.messages_dropped.fetch_add(count, Ordering::Relaxed);
        Sent::Done
    }

    /// Fails a call that its process will not answer. Harmless when the call is gone.
    pub fn fail(&self, number: CallNumber) {
        self.finish(number, Input::Unanswered(Unanswered::Failed), None);
    }

    /// Fails every call that still waits to be handed on by `route`: nobody does that any more.
    pub fn fail_route(&self, route: Route) {
        let waits =
            |entered: &Entered<W>| matches!(entered.stage, Stage::Waiting(_, by) if by == route);
        for shard in &self.shards {
            // Removed as they are found: one that a process takes meanwhile is that process's.
            let lost: Vec<_> = lock(shard)
                .extract_if(|_, entered| waits(entered))
                .collect();
            for (_, entered) in lost {
                self.conclude(entered, Input::Unanswered(Unanswered::Failed), None);
            }
        }
    }

    /// Stops waiting for a call. Its process, when that still has to be told.
    ///
    /// The request is over for its client, which may use the id again although the call still runs.
    pub(crate) fn abandon(&self, number: CallNumber, answer: Unanswered) -> Option<W> {
        let mut shard = self.shard(number);
        let entered = shard.get_mut(&number)?;
        let waiter = entered.answer.take()?;
        let worker = match entered.stage {
            Stage::Waiting(..) => None,
            Stage::Taken(worker) => Some(worker),
        };
        let cancel_key = entered.cancel_key.take();
        let asked = (entered.inquiry.take(), entered.answers.take());
        drop(shard);
        waiter.retract(asked.0.as_deref());
        drop(asked);
        self.unregister(cancel_key.as_ref());
        // The one who waits may have left already, which is why the call is abandoned.
        let _ = waiter.end(Input::Unanswered(answer), Spent::default());
        worker
    }

    /// Whether an answer would still be taken.
    pub fn is_open(&self, number: CallNumber) -> bool {
        self.shard(number)
            .get(&number)
            .is_some_and(|entered| entered.answer.is_some())
    }

    /// The calls that a cancellation names: one of a scope, or all of it.
    pub fn find(&self, scope: &Scope, request: Option<&IdKey>) -> Vec<CallNumber> {
        let scopes = lock(&self.scopes);
        let Some(calls) = scopes.get(scope) else {
            return Vec::new();
        };
        match request {
            Some(id) => calls.get(id).copied().into_iter().collect(),
            None => calls.values().copied().collect(),
        }
    }

    /// The processes that have a call.
    pub fn workers(&self) -> Vec<W> {
        let taken = |entered: &Entered<W>| match entered.stage {
            Stage::Waiting(..) => None,
            Stage::Taken(worker) => Some(worker),
        };
        self.shards
            .iter()
            .flat_map(|shard| lock(shard).values().filter_map(taken).collect::<Vec<_>>())
            .collect()
    }

    /// Calls in flight, those included whose process still runs after a cancellation or deadline.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Tokens that exist.
    pub fn tokens(&self) -> usize {
        self.tokens.load(Ordering::Relaxed)
    }

    pub(crate) fn count_token(&self, more: bool) {
        if more {
            self.tokens.fetch_add(1, Ordering::Relaxed);
        } else {
            self.tokens.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Responses that are event streams and have not ended.
    pub fn streams(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    pub(crate) fn count_stream(&self, more: bool) {
        if more {
            self.streams.fetch_add(1, Ordering::Relaxed);
        } else {
            self.streams.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn admit(&self) -> Result<(), Unanswered> {
        if self.in_flight.fetch_add(1, Ordering::Relaxed) >= self.limits.max_calls {
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
            return Err(Unanswered::Busy(Limit {
                option: "max_calls",
                allowed: self.limits.max_calls,
            }));
        }
        Ok(())
    }

    fn admit_principal(&self, principal: Option<&Principal>) -> Result<(), Unanswered> {
        let Some(principal) = principal else {
            return Ok(());
        };
        let mut principals = lock(&self.principals);
        let running = principals.entry(principal.clone()).or_insert(0);
        if *running >= self.limits.max_calls_per_principal {
            return Err(Unanswered::PrincipalBusy(Limit {
                option: "max_calls_per_principal",
                allowed: self.limits.max_calls_per_principal,
            }));
        }
        *running += 1;
        Ok(())
    }

    fn register(&self, scope: &Scope, id: &IdKey, number: CallNumber) -> bool {
        let mut scopes = lock(&self.scopes);
        match scopes.entry(scope.clone()).or_default().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(number);
                true
            }
        }
    }

    fn forget(&self, entered: &Entered<W>) {
        self.release(entered.principal.as_ref(), entered.cancel_key.as_ref());
    }

    fn release(&self, principal: Option<&Principal>, cancel_key: Option<&(Scope, IdKey)>) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        if let Some(principal) = principal {
            let mut principals = lock(&self.principals);
            if let Some(running) = principals.get_mut(principal) {
                *running -= 1;
                if *running == 0 {
                    principals.remove(principal);
                }
            }
        }
        self.unregister(cancel_key);
    }

    fn unregister(&self, cancel_key: Option<&(Scope, IdKey)>) {
        if let Some((scope, id)) = cancel_key {
            let mut scopes = lock(&self.scopes);
            if let Some(calls) = scopes.get_mut(scope) {
                calls.remove(id);
                if calls.is_empty() {
                    scopes.remove(scope);
                }
            }
        }
    }

    fn shard(&self, number: CallNumber) -> MutexGuard<'_, Shard<W>> {
        lock(&self.shards[number as usize / RUN % SHARDS])
    }
}

impl Waiter {
    /// Tells the client that what it was asked needs no answer any more. One that does not read learns it from the end.
    fn retract(&self, inquiry: Option<&Inquiry>) {
        if let (Self::Streaming(outbox), Some(inquiry)) = (self, inquiry) {
            let _ = outbox.push_all(inquiry.retractions());
        }
    }

    /// Hands over the outcome; `false` when nobody takes it.
    fn end(self, outcome: Input, spent: Spent) -> bool {
        match self {
            Self::Once(sender) => sender.send(Response::Outcome(outcome, spent)).is_ok(),
            Self::Streaming(outbox) => outbox.end(outcome, spent),
        }
    }

    /// Where messages go; whoever waits is told with the first one.
    fn outbox(&mut self, buffers: &Arc<Buffers>) -> Arc<Outbox> {
        if let Self::Streaming(outbox) = self {
            return Arc::clone(outbox);
        }
        let outbox = Arc::new(Outbox::new(buffers));
        let streaming = Self::Streaming(Arc::clone(&outbox));
        if let Self::Once(sender) = mem::replace(self, streaming) {
            // The one who waits may have left: then the messages go nowhere.
            let _ = sender.send(Response::Messages(Arc::clone(&outbox)));
        }
        outbox
    }
}

/// Takes what a call's messages are made with.
fn notifier(ask: &mut Ask) -> Option<Notifier> {
    match ask {
        Ask::Call(call) => call.notifier.take(),
        _ => None,
    }
}

/// Whom a call counts against, and how a cancellation finds it.
fn accounting(ask: &Ask) -> (Option<Principal>, Option<(Scope, IdKey)>) {
    let principal_of = |identity: &Option<mcp_protocol::Identity>| {
        identity.as_ref().map(|identity| identity.principal.clone())
    };
    match ask {
        Ask::Call(call) => (
            principal_of(&call.context.identity),
            call.cancel_key.clone(),
        ),
        Ask::Catalog(context) | Ask::Sift { context, .. } => {
            (principal_of(&context.identity), None)
        }
        Ask::Permit(ask) => (principal_of(&ask.context.identity), None),
        _ => (None, None),
    }
}

/// A lock whose holder panicked still holds consistent data: no critical section leaves a map or an entry half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spreads call numbers, which are ours and consecutive: no peer chooses them, so no keyed hash is needed.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
