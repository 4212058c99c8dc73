//! Streams of calls whose clients left before the end, or may have: kept for a while, and in bounded number, for clients
//! that come back (MCP 2025-11-25 basic/transports, "Resumability and Redelivery").

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use mcp_protocol::{EventId, Scope};
use tokio::{
    runtime::Handle,
    sync::Notify,
    time::{Instant, sleep_until, timeout},
};

use crate::{host::Host, replay::Replay, stream::CallStream};

/// The register of one instance.
pub struct DetachedStreams<H: Host> {
    streams: Mutex<Streams<H>>,
    /// Told when a stream was detached.
    detached: Notify,
}

/// What is left of a stream without a response.
pub(crate) struct Detached<H: Host> {
    pub(crate) owner: Scope,
    pub(crate) replay: Replay,
    /// Present until the answer went out.
    pub(crate) call: Option<CallStream<H>>,
}

struct Streams<H: Host> {
    /// With the time until which each is kept, oldest first.
    kept: VecDeque<(Instant, Detached<H>)>,
    /// Those that have a response, by name, and how to make it end.
    attached: HashMap<Arc<str>, (Scope, Arc<Notify>)>,
    /// Whether a task waits for the oldest to have been kept long enough.
    swept: bool,
}

enum Found<H: Host> {
    Kept(Box<Detached<H>>),
    Attached,
    Nowhere,
}

impl<H: Host> DetachedStreams<H> {
    /// None yet.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            streams: Mutex::new(Streams {
                kept: VecDeque::new(),
                attached: HashMap::new(),
                swept: false,
            }),
            detached: Notify::new(),
        })
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.streams().kept.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names a stream that has a response; told when that has to end, because the client reads another.
    pub(crate) fn attach(&self, owner: &Scope, place: &EventId) -> Arc<Notify> {
        let leaves = Arc::new(Notify::new());
        let attached = (owner.clone(), Arc::clone(&leaves));
        self.streams()
            .attached
            .insert(Arc::clone(&place.stream), attached);
        leaves
    }

    /// Keeps a stream that has no response any more.
    pub(crate) fn detach(self: &Arc<Self>, detached: Detached<H>) {
        let until = Instant::now() + KEPT_FOR;
        let mut streams = self.streams();
        streams.attached.remove(&detached.replay.place().stream);
        let too_many = streams.make_room(&detached.owner);
        streams.kept.push_back((until, detached));
        let sweeps = !streams.swept && Handle::try_current().is_ok();
        streams.swept |= sweeps;
        drop(streams);
        // Not under the lock: it may end a call's wait.
        drop(too_many);
        if sweeps {
            tokio::spawn(Arc::clone(self).sweep(until));
        }
        self.detached.notify_waiters();
    }

    /// Hands out a stream of `owner`. One that still has a response, perhaps on a connection that broke without a sign,
    /// is taken from that.
    pub(crate) async fn take(&self, owner: &Scope, place: &EventId) -> Option<Box<Detached<H>>> {
        let handed_over = async {
            loop {
                let detached = self.detached.notified();
                match self.find(owner, place) {
                    Found::Kept(stream) => return Some(stream),
                    Found::Attached => detached.await,
                    Found::Nowhere => return None,
                }
            }
        };
        timeout(HANDOVER, handed_over).await.ok().flatten()
    }

    /// Forgets the streams of a session that is over.
    pub(crate) fn end(&self, owner: &Scope) {
        let mut streams = self.streams();
        let kept = std::mem::take(&mut streams.kept);
        let (ended, kept): (VecDeque<_>, _) =
            kept.into_iter().partition(|(_, one)| one.owner == *owner);
        streams.kept = kept;
        drop(streams);
        drop(ended);
    }

    fn find(&self, owner: &Scope, place: &EventId) -> Found<H> {
        let mut streams = self.streams();
        let is_it = |(_, one): &(Instant, Detached<H>)| {
            one.owner == *owner && one.replay.place().stream == place.stream
        };
        if let Some(index) = streams.kept.iter().position(is_it) {
            let stream = streams.kept.remove(index);
            return stream.map_or(Found::Nowhere, |(_, stream)| Found::Kept(Box::new(stream)));
        }
        match streams.attached.get(&place.stream) {
            Some((of, leaves)) if of == owner => {
                leaves.notify_one();
                Found::Attached
            }
            _ => Found::Nowhere,
        }
    }

    /// Drops what was kept long enough, until nothing is kept.
    async fn sweep(self: Arc<Self>, first: Instant) {
        let mut next = first;
        loop {
            sleep_until(next).await;
            let mut streams = self.streams();
            let now = Instant::now();
            let fresh = streams.kept.partition_point(|(until, _)| *until <= now);
            let stale: Vec<_> = streams.kept.drain(..fresh).collect();
            let Some((until, _)) = streams.kept.front() else {
                streams.swept = false;
                return;
            };
            next = *until;
            drop(streams);
            drop(stale);
        }
    }

    /// A lock whose holder panicked still holds consistent data: every critical section here is a few operations.
    fn streams(&self) -> MutexGuard<'_, Streams<H>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: Host> Streams<H> {
    /// Takes out the oldest of those that are too many once `owner` has one more.
    fn make_room(&mut self, owner: &Scope) -> Option<(Instant, Detached<H>)> {
        let own = |(_, one): &&(Instant, Detached<H>)| one.owner == *owner;
        if self.kept.iter().filter(own).count() >= MAX_OF_OWNER {
            let oldest = self.kept.iter().position(|one| own(&one))?;
            return self.kept.remove(oldest);
        }
        match self.kept.len() >= MAX_KEPT {
            true => self.kept.pop_front(),
            false => None,
        }
    }
}

/// How long a stream is kept for its client. A call that still runs then runs on, and nobody hears of it.
const KEPT_FOR: Duration = Duration::from_mins(1);

/// The most streams that are kept of one session, and in all; the oldest give way.
const MAX_OF_OWNER: usize = 16;
const MAX_KEPT: usize = 1_024;

/// How long a response may take to end for another.
const HANDOVER: Duration = Duration::from_secs(1);
