//! Events on their way to the BEAM (D8): a fixed number of places, drained by one process, losses counted.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use crossbeam_channel::{Receiver, Sender, bounded};
use mcp_driver::Event;
use rustler::LocalPid;

/// Places in the ring. An event takes about 200 bytes.
const PLACES: usize = 1_024;

/// The ring.
pub(crate) struct Ring {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
    dropped: AtomicU64,
    /// Whether the drainer was told of events and has not come since.
    told: AtomicBool,
    drainer: Mutex<Option<LocalPid>>,
}

impl Ring {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = bounded(PLACES);
        Self {
            sender,
            receiver,
            dropped: AtomicU64::new(0),
            told: AtomicBool::new(false),
            drainer: Mutex::new(None),
        }
    }

    /// Names the process that drains the ring.
    pub(crate) fn drain_by(&self, pid: LocalPid) {
        *self.drainer.lock().unwrap_or_else(PoisonError::into_inner) = Some(pid);
        self.told.store(false, Ordering::Release);
    }

    /// Keeps an event, or counts it when there is no room. The process to tell, when it has to be.
    pub(crate) fn push(&self, event: Event) -> Option<LocalPid> {
        if self.sender.try_send(event).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        self.to_tell()
    }

    /// At most `max` events, oldest first. [`Ring::to_tell`] says whether there are more.
    pub(crate) fn take(&self, max: usize) -> Vec<Event> {
        let events = self.receiver.try_iter().take(max).collect();
        self.told.store(false, Ordering::Release);
        events
    }

    /// The process to tell of events that are left, once.
    pub(crate) fn to_tell(&self) -> Option<LocalPid> {
        if self.receiver.is_empty() {
            return None;
        }
        let drainer = (*self.drainer.lock().unwrap_or_else(PoisonError::into_inner))?;
        (!self.told.swap(true, Ordering::AcqRel)).then_some(drainer)
    }

    /// Events lost since the start.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}
