//! One client that reads of changes, for as long as it does.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
    time::Duration,
};

use mcp_protocol::{Change, Owner, Scope, Subscription, Task, Uris};
use tokio::{runtime::Handle, time::sleep};

use crate::{
    subscriber::{Ready, Subscriber},
    subscribers::Subscribers,
};

/// The place of one stream among the subscribers. Dropped, it is given up: at once, or, where the client may resume the
/// stream, some time later.
pub struct Hearing {
    subscribers: Arc<Subscribers>,
    subscriber: Arc<Subscriber>,
    subscription: Subscription,
    stream: u64,
    /// What is said before any change.
    ahead: VecDeque<Vec<u8>>,
}

impl Hearing {
    /// Stream number `stream` of a subscriber.
    pub(crate) fn new(
        subscribers: Arc<Subscribers>,
        subscriber: Arc<Subscriber>,
        subscription: Subscription,
        stream: u64,
    ) -> Self {
        subscribers.count_stream(true);
        let ahead = subscriber.opening(&subscription).into();
        Self {
            subscribers,
            subscriber,
            subscription,
            stream,
            ahead,
        }
    }

    /// What is said first, if something of it is left.
    pub(crate) fn ahead(&mut self) -> Option<Vec<u8>> {
        self.ahead.pop_front()
    }

    pub(crate) fn has_more_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Waits until there is something to be read, or until this is over. Cancel safe.
    pub(crate) async fn ready(&self) -> Ready {
        self.subscriber.ready(self.stream).await
    }

    /// The next change, which waits on until it is told or forgotten.
    pub(crate) fn first(&self) -> Option<Change> {
        self.subscriber.first(self.stream)
    }

    /// A change as its client reads it, which waits no longer.
    pub(crate) fn tell(&self, change: &Change) -> Option<Vec<u8>> {
        let subscription = &self.subscription;
        self.subscriber
            .tell_first(self.stream, subscription, change)
    }

    /// Has a change wait no longer that is not told.
    pub(crate) fn forget(&self, change: &Change) {
        self.subscriber.forget(self.stream, change);
    }

    /// A task, as its client reads it.
    pub(crate) fn tell_task(&self, task: &Task) -> Option<Vec<u8>> {
        self.subscription.tell_task(task)
    }

    /// Has a task told later.
    pub(crate) fn put_back(&self, id: Arc<str>) {
        self.subscriber.tell(&Change::Task(id), None);
    }

    /// How often the resources were changed one by one.
    pub(crate) fn edits(&self) -> u64 {
        self.subscriber.edits()
    }

    /// From now on the client hears of these resources, which were asked for after so many `edits`, unless some came since.
    pub(crate) fn refresh_uris(&self, uris: Uris, edits: u64) {
        self.subscriber.refresh_uris(uris, edits);
    }

    /// What follows the end on a pipe.
    pub(crate) fn farewell(&self) -> Option<Vec<u8>> {
        self.subscription.farewell()
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.subscribers.count_stream(false);
        let (subscribers, subscriber) = (&self.subscribers, &self.subscriber);
        if !subscriber.is_newest(self.stream) {
            return;
        }
        let is_resumable = matches!(subscriber.owner, Owner::Session(Scope::Session(_)));
        match Handle::try_current() {
            Ok(runtime) if is_resumable => {
                let waits = runtime.spawn(linger(
                    Arc::downgrade(subscribers),
                    Arc::downgrade(subscriber),
                    self.stream,
                ));
                subscriber.wait_for_client(self.stream, waits.abort_handle());
            }
            _ => subscribers.give_up(subscriber, self.stream),
        }
    }
}

/// Leaves a stream's place to the client for a while. Keeps nothing of a subscriber that is removed meanwhile.
async fn linger(subscribers: Weak<Subscribers>, subscriber: Weak<Subscriber>, stream: u64) {
    sleep(RESUMABLE_FOR).await;
    if let (Some(subscribers), Some(subscriber)) = (subscribers.upgrade(), subscriber.upgrade()) {
        subscribers.give_up(&subscriber, stream);
    }
}

/// How long a session's stream that broke off can be resumed. Its changes are kept so long.
const RESUMABLE_FOR: Duration = Duration::from_mins(1);
