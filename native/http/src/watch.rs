//! What a connection is doing, noted by those who move its bytes and read by the one who keeps its time.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use tokio::time::Instant;

use crate::unread::{Unread, UnreadStreams};

/// Notes of one connection. All parties run on one thread, so every access is relaxed and none waits.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    requests: AtomicU64,
    serving: AtomicU32,
    reading: AtomicBool,
    moved: AtomicBool,
    blocked: AtomicBool,
    unread: AtomicBool,
    closing: AtomicBool,
    streams: Arc<UnreadStreams>,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Activity {
    /// For its first request head.
    Opening,
    /// For the rest of a later head.
    Head,
    /// For its answers: each has a deadline of its own.
    Serving,
    /// For the peer to take what was answered so far.
    Stalled,
    /// For the next request, or for the peer to take the last answer.
    Resting,
    /// For the peer to close, our side being closed.
    Closing,
}

impl Watch {
    pub(crate) fn activity(&self) -> Activity {
        if self.closing.load(Ordering::Relaxed) {
            Activity::Closing
        } else if self.serving.load(Ordering::Relaxed) > 0 {
            match self.blocked.load(Ordering::Relaxed) {
                true => Activity::Stalled,
                false => Activity::Serving,
            }
        } else if self.requests() == 0 {
            Activity::Opening
        } else if self.reading.load(Ordering::Relaxed) {
            Activity::Head
        } else {
            Activity::Resting
        }
    }

    /// Requests begun so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Notes the begin of a request.
    pub(crate) fn begin(&self) {
        self.requests.store(self.requests() + 1, Ordering::Relaxed);
        self.count(1);
    }

    /// Notes the end of a request that had begun.
    pub(crate) fn end(&self) {
        self.count(-1);
        self.reading.store(false, Ordering::Relaxed);
        self.moved.store(true, Ordering::Relaxed);
    }

    /// One thread writes this, so it takes no step that locks out others.
    fn count(&self, more: i32) {
        let serving = self.serving.load(Ordering::Relaxed);
        let now = serving.saturating_add_signed(more);
        self.serving.store(now, Ordering::Relaxed);
    }

    /// Notes the begin of an event stream.
    pub(crate) fn stream(&self) -> Unread {
        self.streams.begin()
    }

    /// Since when the peer has left an event stream unread, if it has.
    pub(crate) fn unread_since(&self) -> Option<Instant> {
        self.streams.oldest()
    }

    /// Notes that bytes of the next head have come.
    pub(crate) fn head_began(&self) {
        self.reading.store(true, Ordering::Relaxed);
    }

    /// Notes that the peer takes no bytes at present.
    pub(crate) fn stalled(&self) {
        self.blocked.store(true, Ordering::Relaxed);
    }

    /// Notes that the peer took bytes again after a pause.
    pub(crate) fn advanced(&self) {
        self.blocked.store(false, Ordering::Relaxed);
        self.moved.store(true, Ordering::Relaxed);
    }

    /// Whether something ended or went on since this was last asked.
    pub(crate) fn take_moved(&self) -> bool {
        let moved = self.moved.load(Ordering::Relaxed);
        if moved {
            self.moved.store(false, Ordering::Relaxed);
        }
        moved
    }

    /// Notes that a request was answered without reading its body.
    pub(crate) fn left_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    /// Whether the peer may be sending what nobody reads: a body, or what follows a head that is no HTTP.
    pub(crate) fn may_have_unread(&self) -> bool {
        let in_head = matches!(self.activity(), Activity::Opening | Activity::Head);
        in_head || self.unread.load(Ordering::Relaxed)
    }

    /// Notes that our side is closed.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }
}
