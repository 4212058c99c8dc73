//! The open connections of one listener: counted, bounded, and told when to end.

use std::{
    collections::HashMap,
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Poll, Waker},
};

use mcp_driver::note_work;
use tokio::sync::Notify;

/// The register. A connection reads the phase with one load each time it runs; a change of phase wakes them all.
#[derive(Debug)]
pub(crate) struct Connections {
    phase: AtomicU8,
    open: Mutex<Open>,
    drains: Notify,
    emptied: Notify,
    limit: usize,
}

/// How far the listener's end has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    /// Connections are served.
    Open,
    /// Requests under way are finished, nothing new begins.
    Draining,
    /// Connections close at once.
    Stopped,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    tasks: HashMap<u64, Option<Waker>>,
}

/// A connection's place in the register, given up when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    number: u64,
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            phase: AtomicU8::new(Phase::Open as u8),
            open: Mutex::default(),
            drains: Notify::new(),
            emptied: Notify::new(),
            limit,
        })
    }

    /// A place, unless all are taken.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut open = self.open();
        if open.tasks.len() >= self.limit {
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.tasks.insert(number, None);
        Some(Place {
            connections: Arc::clone(self),
            number,
        })
    }

    /// Goes on to `phase`, never back, and wakes every connection.
    pub(crate) fn advance(&self, phase: Phase) {
        if self.phase.fetch_max(phase as u8, Ordering::AcqRel) < phase as u8 {
            let wakers: Vec<Waker> = self.open().tasks.values().flatten().cloned().collect();
            wakers.iter().for_each(Waker::wake_by_ref);
            self.drains.notify_waiters();
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Open,
            1 => Phase::Draining,
            _ => Phase::Stopped,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.open().tasks.len()
    }

    /// Waits for the end of [`Phase::Open`].
    pub(crate) async fn drains(&self) {
        loop {
            let mut drains = pin!(self.drains.notified());
            drains.as_mut().enable();
            if self.phase() != Phase::Open {
                return;
            }
            drains.await;
        }
    }

    /// Waits until no connection is open.
    pub(crate) async fn emptied(&self) {
        loop {
            let mut emptied = pin!(self.emptied.notified());
            emptied.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// A lock whose holder panicked still guards a consistent map: each critical section is one operation on it.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Has the running task woken when the phase changes. A task's waker never changes, so once is enough.
    pub(crate) async fn listen(&self) {
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            self.connections
                .open()
                .tasks
                .insert(self.number, Some(waker));
            Poll::Ready(())
        })
        .await;
    }

    pub(crate) fn phase(&self) -> Phase {
        self.connections.phase()
    }

    /// Runs `future` to its end, or to the end of [`Phase::Open`]: then `None`.
    pub(crate) async fn while_open<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            note_work();
            match future.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending if self.phase() == Phase::Open => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            }
        })
        .await
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.tasks.remove(&self.number);
        if open.tasks.is_empty() {
            drop(open);
            self.connections.emptied.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_no_place_over_the_limit_and_takes_it_back() {
        let connections = Connections::new(1);
        let place = connections.enter();
        assert!(place.is_some());
        assert!(connections.enter().is_none());
        drop(place);
        assert!(connections.enter().is_some());
    }

    #[test]
    fn never_goes_back_to_an_earlier_phase() {
        let connections = Connections::new(1);
        connections.advance(Phase::Stopped);
        connections.advance(Phase::Draining);
        assert_eq!(connections.phase(), Phase::Stopped);
    }
}
