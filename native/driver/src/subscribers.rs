//! Who hears of changes: every open subscription of one instance, bounded in number and in what waits for each.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use mcp_protocol::{Change, IdKey, Limit, Owner, Principal, Scope, Subscription, Unanswered, Uris};

use crate::{buffers::Buffers, hearing::Hearing, pending::Added, subscriber::Subscriber};

/// How many subscriptions may be open.
#[derive(Clone, Copy, Debug)]
pub struct SubscriptionLimits {
    /// In the instance.
    pub max_subscriptions: usize,
    /// Of one principal, among those that a hook named.
    pub max_subscriptions_per_principal: usize,
}

/// The register.
pub struct Subscribers {
    open: Mutex<Open>,
    limits: SubscriptionLimits,
    streams: AtomicUsize,
    folded: AtomicU64,
}

#[derive(Default)]
struct Open {
    next: u64,
    all: HashMap<u64, Arc<Subscriber>>,
    /// Those that are found by what they belong to.
    owned: HashMap<Owner, u64>,
    /// Subscriptions per principal; holds those with at least one.
    principals: HashMap<Principal, usize>,
}

impl Subscribers {
    /// Nobody yet.
    pub fn new(limits: SubscriptionLimits) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            limits,
            streams: AtomicUsize::new(0),
            folded: AtomicU64::new(0),
        })
    }

    /// Begins a subscription. A session has one: its newest stream takes the place of the one before, and what waits
    /// for it.
    ///
    /// # Errors
    /// [`Unanswered::Busy`], [`Unanswered::PrincipalBusy`] and [`Unanswered::DuplicateId`].
    pub fn begin(
        self: &Arc<Self>,
        subscription: Subscription,
        buffers: &Arc<Buffers>,
    ) -> Result<Hearing, Unanswered> {
        let mut open = self.open();
        let found = open.owned.get(&subscription.owner);
        let found = found.and_then(|number| open.all.get(number)).cloned();
        let subscriber = match (found, &subscription.owner) {
            (Some(subscriber), Owner::Session(_)) => subscriber,
            (Some(_), _) => return Err(Unanswered::DuplicateId),
            (None, _) => self.enter(&mut open, &subscription, buffers)?,
        };
        // Under the lock, so that whoever gives up an older stream finds that there is a newer one.
        let stream = subscriber.next_stream();
        drop(open);
        let hearing = Hearing::new(Arc::clone(self), subscriber, subscription, stream);
        Ok(hearing)
    }

    /// Tells everybody who wants to hear of it of a change, which may be part of the resource `within`. Takes time in
    /// proportion to the subscriptions, and waits for nobody.
    pub fn publish(&self, change: &Change, within: Option<&str>) {
        for subscriber in self.open().all.values() {
            if subscriber.tell(change, within) == Some(Added::Folded) {
                self.folded.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Adds a resource to what a session hears of, or takes it away.
    pub fn resubscribe(&self, session: &Scope, uri: &Arc<str>, adds: bool) {
        if let Some(subscriber) = self.find(&Owner::Session(session.clone())) {
            subscriber.resubscribe(uri, adds);
        }
    }

    /// Puts these resources in the place of those that a session heard of before.
    pub fn set_uris(&self, session: &Scope, uris: Uris) {
        if let Some(subscriber) = self.find(&Owner::Session(session.clone())) {
            subscriber.set_uris(uris);
        }
    }

    /// Ends the stream of a session, which is over.
    pub fn end(&self, session: &Scope) {
        if let Some(subscriber) = self.find(&Owner::Session(session.clone())) {
            self.open().remove(&subscriber);
            subscriber.end();
        }
    }

    /// Whether a request of a pipe is such a subscription.
    pub(crate) fn has(&self, scope: &Scope, id: &IdKey) -> bool {
        let owner = Owner::Request(scope.clone(), id.clone());
        self.open().owned.contains_key(&owner)
    }

    /// Subscriptions open, those of sessions included whose client may come back to a stream that broke off.
    pub fn len(&self) -> usize {
        self.open().all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Streams of changes that clients read now.
    pub fn streams(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    /// Changes of parts of resources that were told as changes of the whole, because a client did not read.
    pub fn folded(&self) -> u64 {
        self.folded.load(Ordering::Relaxed)
    }

    pub(crate) fn count_stream(&self, more: bool) {
        if more {
            self.streams.fetch_add(1, Ordering::Relaxed);
        } else {
            self.streams.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Forgets a subscriber whose client left this stream and has begun no other.
    pub(crate) fn give_up(&self, subscriber: &Subscriber, stream: u64) {
        let mut open = self.open();
        if subscriber.is_newest(stream) {
            open.remove(subscriber);
        }
    }

    fn enter(
        &self,
        open: &mut Open,
        subscription: &Subscription,
        buffers: &Arc<Buffers>,
    ) -> Result<Arc<Subscriber>, Unanswered> {
        if open.all.len() >= self.limits.max_subscriptions {
            return Err(Unanswered::Busy(Limit {
                option: "max_subscriptions",
                allowed: self.limits.max_subscriptions,
            }));
        }
        if let Some(principal) = &subscription.principal {
            let count = open.principals.entry(principal.clone()).or_insert(0);
            if *count >= self.limits.max_subscriptions_per_principal {
                return Err(Unanswered::PrincipalBusy(Limit {
                    option: "max_subscriptions_per_principal",
                    allowed: self.limits.max_subscriptions_per_principal,
                }));
            }
            *count += 1;
        }
        let number = open.next;
        open.next += 1;
        let subscriber = Arc::new(Subscriber::new(number, subscription, buffers));
        open.all.insert(number, Arc::clone(&subscriber));
        if subscription.owner != Owner::Connection {
            open.owned.insert(subscription.owner.clone(), number);
        }
        Ok(subscriber)
    }

    fn find(&self, owner: &Owner) -> Option<Arc<Subscriber>> {
        let open = self.open();
        let number = open.owned.get(owner)?;
        open.all.get(number).cloned()
    }

    /// A lock whose holder panicked still holds consistent data: every critical section here is a few map operations.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Forgets a subscriber. Harmless when that was done before.
    fn remove(&mut self, subscriber: &Subscriber) {
        if self.all.remove(&subscriber.number).is_none() {
            return;
        }
        if self.owned.get(&subscriber.owner) == Some(&subscriber.number) {
            self.owned.remove(&subscriber.owner);
        }
        if let Some(principal) = &subscriber.principal
            && let Some(count) = self.principals.get_mut(principal)
        {
            *count -= 1;
            if *count == 0 {
                self.principals.remove(principal);
            }
        }
    }
}
