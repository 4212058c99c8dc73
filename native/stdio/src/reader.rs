//! The thread that reads a descriptor.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    os::fd::OwnedFd,
    thread,
    time::Duration,
};

use bytes::Bytes;
use rustix::event::PollFlags;
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use crate::stop::{Stop, Waiter};

/// What was read, or why no more can be.
pub(crate) type Chunk = io::Result<Bytes>;

/// The reading of a descriptor.
pub(crate) struct Reading {
    /// Ends it when dropped.
    pub(crate) stop: Stop,
    /// Comes when the input has ended, whether or not all of it was taken.
    pub(crate) ended: oneshot::Receiver<()>,
}

/// Starts to read `descriptor` into `chunks`, until it ends, fails, or the [`Stop`] is dropped.
///
/// The thread waits with poll(2) rather than in read(2), so that it can be stopped; the descriptor's own mode, which
/// it may share with other processes, is left alone. Pipes, sockets, files and terminals all serve.
pub(crate) fn start(descriptor: OwnedFd, chunks: mpsc::Sender<Chunk>) -> io::Result<Reading> {
    let (stop, waiter) = Stop::new()?;
    let (end, ended) = oneshot::channel();
    let reader = Reader {
        input: descriptor.into(),
        waiter,
        chunks,
        end: Some(end),
    };
    thread::Builder::new()
        .name("mcp-stdio-read".to_owned())
        .spawn(move || reader.run())?;
    Ok(Reading { stop, ended })
}

struct Reader {
    input: File,
    waiter: Waiter,
    chunks: mpsc::Sender<Chunk>,
    /// Used, or dropped, when the input has ended.
    end: Option<oneshot::Sender<()>>,
}

impl Reader {
    fn run(mut self) {
        if let Err(fault) = self.read() {
            // Nobody listens any more when the pipe has ended meanwhile.
            let _ = self.chunks.blocking_send(Err(fault));
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        while self.waiter.wait(&self.input, PollFlags::IN)? {
            let count = match self.input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(fault) if may_retry(&fault) => continue,
                Err(fault) => return Err(fault),
            };
            if !self.hand_on(Bytes::copy_from_slice(&buffer[..count]))? {
                break;
            }
        }
        Ok(())
    }

    /// Waits until there is room for a chunk, and tells of the end of the input when it comes meanwhile. `false` when
    /// nobody takes chunks any more.
    fn hand_on(&mut self, chunk: Bytes) -> io::Result<bool> {
        let mut chunk = match self.chunks.try_send(Ok(chunk)) {
            Err(TrySendError::Full(chunk)) => chunk,
            sent => return Ok(sent.is_ok()),
        };
        while self.end.is_some() {
            if self.waiter.hung_up(&self.input, LOOK_AGAIN)? {
                self.end = None;
            }
            chunk = match self.chunks.try_send(chunk) {
                Err(TrySendError::Full(chunk)) => chunk,
                sent => return Ok(sent.is_ok()),
            };
        }
        Ok(self.chunks.blocking_send(chunk).is_ok())
    }
}

/// Whether a read or write failed for now only: a signal came, or another process was quicker.
pub(crate) fn may_retry(fault: &io::Error) -> bool {
    matches!(fault.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

const READ_BYTES: usize = 64 * 1024;

/// How often a reader that waits for room looks for it; as many lines as fill the room take longer to serve.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
