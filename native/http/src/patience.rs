//! The deadlines of one connection.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::watch::{Activity, Watch};

/// Keeps the time of one connection with a single timer.
///
/// The timer is not moved while requests come and go: when it rings, the deadline in force is looked up, and the timer
/// set again if that lies ahead. A request so costs one reading of the clock.
pub(crate) struct Patience {
    watch: Arc<Watch>,
    limits: Limits,
    /// Whether later heads are timed from their first byte; on HTTP/2 other frames come between requests.
    times_heads: bool,
    activity: Activity,
    since: Instant,
    rings: Instant,
    timer: Pin<Box<Sleep>>,
}

/// How long each activity may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) header: Duration,
    pub(crate) idle: Duration,
}

/// What took too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Overdue {
    Head,
    Rest,
    Close,
}

impl Patience {
    /// For a connection accepted at `accepted`.
    pub(crate) fn new(
        watch: Arc<Watch>,
        limits: Limits,
        times_heads: bool,
        accepted: Instant,
    ) -> Self {
        let rings = accepted + limits.header;
        Self {
            watch,
            limits,
            times_heads,
            activity: Activity::Opening,
            since: accepted,
            rings,
            timer: Box::pin(sleep_until(rings)),
        }
    }

    /// Ready once the connection has waited too long for what it waits for.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Overdue> {
        self.note();
        // A timer that rings while requests are served is seen to when they are done.
        let Some((deadline, overdue)) = self.deadline() else {
            return Poll::Pending;
        };
        if deadline < self.rings {
            self.ring_at(deadline);
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            if deadline <= Instant::now() {
                return Poll::Ready(overdue);
            }
            self.ring_at(deadline);
        }
        Poll::Pending
    }

    /// Leaves the connection a last moment to end by itself.
    pub(crate) fn close_soon(&mut self) {
        self.watch.close();
    }

    fn note(&mut self) {
        let activity = match self.watch.activity() {
            Activity::Head if !self.times_heads => Activity::Resting,
            activity => activity,
        };
        if self.watch.take_moved() || activity != self.activity {
            self.activity = activity;
            if activity != Activity::Serving {
                self.since = Instant::now();
            }
        }
    }

    fn deadline(&self) -> Option<(Instant, Overdue)> {
        let (limit, overdue) = match self.activity {
            Activity::Opening | Activity::Head => (self.limits.header, Overdue::Head),
            Activity::Resting | Activity::Stalled => (self.limits.idle, Overdue::Rest),
            Activity::Closing => (LINGER, Overdue::Close),
            Activity::Serving => return self.unread_deadline(),
        };
        let own = (self.since + limit, overdue);
        match self.unread_deadline() {
            Some(unread) if overdue != Overdue::Close && unread.0 < own.0 => Some(unread),
            _ => Some(own),
        }
    }

    /// The peer of an event stream has as long to take an event as to take an answer.
    fn unread_deadline(&self) -> Option<(Instant, Overdue)> {
        let since = self.watch.unread_since()?;
        Some((since + self.limits.idle, Overdue::Rest))
    }

    fn ring_at(&mut self, instant: Instant) {
        self.rings = instant;
        self.timer.as_mut().reset(instant);
    }
}

/// How long a peer is given to take the last bytes and close.
pub(crate) const LINGER: Duration = Duration::from_secs(1);
