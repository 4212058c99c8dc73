//! One subscriber: what it wants to hear of, what waits for it, and what it may be told again.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_protocol::{Change, EventId, Filter, Owner, Principal, StreamKind, Subscription, Uris};
use tokio::{sync::Notify, task::AbortHandle};

use crate::{
    buffers::Buffers,
    pending::{Added, Pending},
    replay::Replay,
};

/// Outlives its stream where the client may resume that.
pub(crate) struct Subscriber {
    pub(crate) number: u64,
    pub(crate) owner: Owner,
    pub(crate) principal: Option<Principal>,
    /// Whether it listens to tasks, from its beginning on.
    pub(crate) of_tasks: bool,
    state: Mutex<State>,
    /// Told when there is something for the stream.
    ready: Notify,
}

struct State {
    filter: Filter,
    /// How often single resources were added or taken away.
    edits: u64,
    pending: Pending,
    /// Present where a stream can be resumed.
    replay: Option<Replay>,
    /// Which of its streams reads, counted from 1.
    stream: u64,
    /// While nobody reads: gives this up in the end.
    waits_for_client: Option<AbortHandle>,
    ended: bool,
}

/// What there is for a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ready {
    /// Changes.
    Changes,
    /// Its end: the subscription is over, or has another stream.
    End,
}

impl Subscriber {
    pub(crate) fn new(number: u64, subscription: &Subscription, buffers: &Arc<Buffers>) -> Self {
        Self {
            number,
            owner: subscription.owner.clone(),
            principal: subscription.principal.clone(),
            of_tasks: !subscription.filter.tasks.is_empty(),
            state: Mutex::new(State {
                filter: subscription.filter.clone(),
                edits: 0,
                pending: Pending::default(),
                replay: subscription
                    .is_resumable()
                    .then(|| Replay::new(StreamKind::Get, buffers)),
                stream: 0,
                waits_for_client: None,
                ended: false,
            }),
            ready: Notify::new(),
        }
    }

    /// Queues a change, if it is wanted.
    pub(crate) fn tell(&self, change: &Change, within: Option<&str>) -> Option<Added> {
        let mut state = self.state();
        let State {
            filter, pending, ..
        } = &mut *state;
        if !filter.wants(change, within) {
            return None;
        }
        let added = pending.add(change, within, filter);
        drop(state);
        if added == Added::Waits {
            self.ready.notify_one();
        }
        Some(added)
    }

    pub(crate) fn resubscribe(&self, uri: &Arc<str>, adds: bool) {
        let mut state = self.state();
        state.edits += 1;
        let uris = Arc::make_mut(&mut state.filter.uris);
        if adds {
            uris.insert(Arc::clone(uri));
        } else {
            uris.remove(uri);
            state.pending.forget(uri);
        }
    }

    /// Puts these resources in the place of those it heard of before.
    pub(crate) fn set_uris(&self, uris: Uris) {
        self.state().set_uris(uris);
    }

    /// How often [`Subscriber::resubscribe`] was called.
    pub(crate) fn edits(&self) -> u64 {
        self.state().edits
    }

    /// Does what [`Subscriber::set_uris`] does, unless there were edits since there were so many.
    pub(crate) fn refresh_uris(&self, uris: Uris, edits: u64) {
        let mut state = self.state();
        if state.edits == edits {
            state.set_uris(uris);
        }
    }

    pub(crate) fn end(&self) {
        self.state().ended = true;
        self.ready.notify_one();
    }

    /// Begins a stream, in the place of one before; its number.
    pub(crate) fn next_stream(&self) -> u64 {
        let mut state = self.state();
        state.stream += 1;
        let number = state.stream;
        let waits = state.waits_for_client.take();
        drop(state);
        if let Some(waits) = waits {
            waits.abort();
        }
        // One that reads so far finds that it is not the newest.
        self.ready.notify_one();
        number
    }

    /// Notes the task that gives this up unless the client comes back to a stream that broke off.
    pub(crate) fn wait_for_client(&self, stream: u64, waits: AbortHandle) {
        let mut state = self.state();
        if state.stream == stream {
            state.waits_for_client = Some(waits);
        }
    }

    /// What the newest stream says first. A client that resumes gets what it missed, or, where nobody knows that, a
    /// change of everything.
    pub(crate) fn opening(&self, subscription: &Subscription) -> Vec<Vec<u8>> {
        let mut state = self.state();
        let State {
            filter,
            pending,
            replay,
            ..
        } = &mut *state;
        filter.clone_from(&subscription.filter);
        // What became of a task before its client listened is news to it.
        for id in filter.tasks.iter() {
            pending.add(&Change::Task(Arc::clone(id)), None, filter);
        }
        let missed = match (&replay, &subscription.resumes) {
            (Some(replay), Some(place)) => replay.after(place),
            _ => Some(Vec::new()),
        };
        if missed.is_none() {
            pending.add_all(filter);
        }
        let place = replay.as_ref().map_or_else(no_place, Replay::place);
        drop(state);
        let mut ahead: Vec<Vec<u8>> = missed.unwrap_or_default();
        ahead.extend(subscription.opening(&place));
        ahead
    }

    /// Whether this is the newest stream.
    pub(crate) fn is_newest(&self, stream: u64) -> bool {
        self.state().stream == stream
    }

    /// Waits until there is something for a stream. Cancel safe.
    pub(crate) async fn ready(&self, stream: u64) -> Ready {
        loop {
            let notified = self.ready.notified();
            {
                let state = self.state();
                if state.stream != stream {
                    drop(state);
                    // What woke it up may have been meant for the newest.
                    self.ready.notify_one();
                    return Ready::End;
                }
                if state.ended {
                    return Ready::End;
                }
                if !state.pending.is_empty() {
                    return Ready::Changes;
                }
            }
            notified.await;
        }
    }

    /// The next change for a stream. It waits on until it is told or forgotten: whoever looks may have to ask first
    /// whether it may be told, and may be gone before the answer is there.
    pub(crate) fn first(&self, stream: u64) -> Option<Change> {
        let state = self.state();
        let is_newest = state.stream == stream;
        state.pending.first().filter(|_| is_newest).cloned()
    }

    /// Takes out a change, told as its client reads it; `None` when it does not wait for this stream any more.
    pub(crate) fn tell_first(
        &self,
        stream: u64,
        subscription: &Subscription,
        change: &Change,
    ) -> Option<Vec<u8>> {
        let mut state = self.state();
        if state.stream != stream || !state.pending.remove(change) {
            return None;
        }
        Some(match &mut state.replay {
            Some(replay) => replay.push(|place| subscription.tell(change, place)),
            None => subscription.tell(change, &no_place()),
        })
    }

    /// Takes out a change that is not told.
    pub(crate) fn forget(&self, stream: u64, change: &Change) {
        let mut state = self.state();
        if state.stream == stream {
            state.pending.remove(change);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn set_uris(&mut self, uris: Uris) {
        let before = mem::replace(&mut self.filter.uris, uris);
        for uri in before.difference(&self.filter.uris) {
            self.pending.forget(uri);
        }
    }
}

/// The place of events that have none.
fn no_place() -> EventId {
    EventId {
        kind: StreamKind::Get,
        stream: Arc::default(),
        number: 0,
    }
}
