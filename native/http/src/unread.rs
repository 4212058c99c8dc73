//! Event streams whose peer has not asked for more since the last event: how long each may wait is bounded, for what
//! is queued for it is held meanwhile.
//!
//! A peer that reads nothing at all is noticed by its socket. One of HTTP/2 may read and leave single streams alone.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use tokio::time::Instant;

/// The streams of one connection, and since when those wait that wait.
#[derive(Debug, Default)]
pub(crate) struct UnreadStreams {
    next: AtomicU64,
    /// How many wait, so that a connection without such streams takes no lock.
    count: AtomicUsize,
    waiting: Mutex<Vec<(u64, Instant)>>,
}

/// One stream, until dropped.
#[derive(Debug)]
pub(crate) struct Unread {
    streams: Arc<UnreadStreams>,
    number: u64,
}

impl UnreadStreams {
    /// A stream whose head was just handed out.
    pub(crate) fn begin(self: &Arc<Self>) -> Unread {
        let unread = Unread {
            streams: Arc::clone(self),
            number: self.next.fetch_add(1, Ordering::Relaxed),
        };
        unread.handed_out();
        unread
    }

    /// Since when the one waits that waits longest.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.waiting().iter().map(|(_, since)| *since).min()
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(u64, Instant)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unread {
    /// Notes that an event is on its way.
    pub(crate) fn handed_out(&self) {
        self.waits_since(Some(Instant::now()));
    }

    /// Notes that there is room for the next event.
    pub(crate) fn asked_for_more(&self) {
        self.waits_since(None);
    }

    fn waits_since(&self, since: Option<Instant>) {
        let mut waiting = self.streams.waiting();
        waiting.retain(|(number, _)| *number != self.number);
        waiting.extend(since.map(|since| (self.number, since)));
        self.streams.count.store(waiting.len(), Ordering::Relaxed);
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.asked_for_more();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tells_since_when_the_oldest_waits() {
        let streams = Arc::new(UnreadStreams::default());
        assert_eq!(streams.oldest(), None);
        let start = Instant::now();
        let first = streams.begin();
        advance(Duration::from_secs(1)).await;
        let second = streams.begin();
        assert_eq!(streams.oldest(), Some(start));
        first.asked_for_more();
        assert_eq!(streams.oldest(), Some(start + Duration::from_secs(1)));
        advance(Duration::from_secs(1)).await;
        first.handed_out();
        second.asked_for_more();
        assert_eq!(streams.oldest(), Some(start + Duration::from_secs(2)));
        drop(first);
        assert_eq!(streams.oldest(), None);
    }
}
