//! Waiting for a descriptor, until told to stop.

use std::{
    io::{self, PipeReader, PipeWriter},
    os::fd::AsFd,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// Stops a thread that waits with [`Waiter`], when dropped.
pub(crate) struct Stop {
    _held: PipeWriter,
}

/// Waits for one descriptor or for its [`Stop`] to be dropped, whichever comes first.
pub(crate) struct Waiter {
    stopped: PipeReader,
}

impl Stop {
    pub(crate) fn new() -> io::Result<(Self, Waiter)> {
        let (stopped, held) = io::pipe()?;
        Ok((Self { _held: held }, Waiter { stopped }))
    }
}

impl Waiter {
    /// Waits; `false` when told to stop.
    pub(crate) fn wait(&self, descriptor: impl AsFd, events: PollFlags) -> io::Result<bool> {
        let [_, stopped] = self.poll(&descriptor, events, None)?;
        Ok(stopped.is_empty())
    }

    /// Waits for `limit`, or less: whether the other end sends nothing more beyond what can be read already.
    pub(crate) fn hung_up(&self, descriptor: impl AsFd, limit: Duration) -> io::Result<bool> {
        let limit = Timespec::try_from(limit).ok();
        let [events, _] = self.poll(&descriptor, SENDS_NO_MORE, limit.as_ref())?;
        Ok(events.intersects(SENDS_NO_MORE | PollFlags::HUP))
    }

    fn poll(
        &self,
        descriptor: &impl AsFd,
        events: PollFlags,
        limit: Option<&Timespec>,
    ) -> io::Result<[PollFlags; 2]> {
        let mut polled = [
            PollFd::new(descriptor, events),
            PollFd::new(&self.stopped, PollFlags::IN),
        ];
        match poll(&mut polled, limit) {
            Ok(_) | Err(Errno::INTR) => Ok(polled.map(|one| one.revents())),
            Err(fault) => Err(fault.into()),
        }
    }
}

/// A socket whose other end was closed for sending says so; a pipe hangs up, which need not be asked for.
#[cfg(target_os = "linux")]
const SENDS_NO_MORE: PollFlags = PollFlags::RDHUP;
#[cfg(not(target_os = "linux"))]
const SENDS_NO_MORE: PollFlags = PollFlags::empty();
