//! Waiting for a descriptor, until told to stop.

use std::{
    io::{self, PipeReader, PipeWriter},
    os::fd::AsFd,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
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
        let mut polled = [
            PollFd::new(&descriptor, events),
            PollFd::new(&self.stopped, PollFlags::IN),
        ];
        match poll(&mut polled, None) {
            Ok(_) | Err(Errno::INTR) => Ok(polled[1].revents().is_empty()),
            Err(fault) => Err(fault.into()),
        }
    }
}
