//! Whoever writes the answers: a thread for a descriptor, a task for a callback.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
    thread,
};

use rustix::{
    event::PollFlags,
    fs::{OFlags, fcntl_getfl},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use crate::{
    reader::may_retry,
    stop::{Stop, Waiter},
};

/// Where answers go, and how that ends.
pub(crate) struct Writer {
    /// Takes messages without line ends. Closed when nothing can be written any more.
    pub(crate) messages: mpsc::Sender<Vec<u8>>,
    /// Says that everything was written, or why not.
    pub(crate) done: oneshot::Receiver<io::Result<()>>,
    /// Ends the writer although its peer does not read.
    pub(crate) stop: Option<Stop>,
}

impl Writer {
    /// Writes to `descriptor`, on a thread.
    pub(crate) fn to_descriptor(descriptor: OwnedFd) -> io::Result<Self> {
        let (messages, queue) = mpsc::channel(QUEUED_MESSAGES);
        let (finished, done) = oneshot::channel();
        let (stop, waiter) = Stop::new()?;
        let output = Output {
            piece_bytes: piece_bytes(&descriptor)?,
            file: descriptor.into(),
            waiter,
        };
        thread::Builder::new()
            .name("mcp-stdio-write".to_owned())
            .spawn(move || {
                // The pipe may have ended without waiting for its last words.
                let _ = finished.send(output.write(queue));
            })?;
        Ok(Self {
            messages,
            done,
            stop: Some(stop),
        })
    }

    /// Gives whole lines to `callback`, on `runtime`.
    pub(crate) fn to_callback(
        mut callback: Box<dyn FnMut(Vec<u8>) + Send>,
        runtime: &Handle,
    ) -> Self {
        let (messages, mut queue) = mpsc::channel::<Vec<u8>>(QUEUED_MESSAGES);
        let (finished, done) = oneshot::channel();
        runtime.spawn(async move {
            while let Some(mut line) = queue.recv().await {
                line.push(b'\n');
                callback(line);
            }
            // The pipe may have ended without waiting for its last words.
            let _ = finished.send(Ok(()));
        });
        Self {
            messages,
            done,
            stop: None,
        }
    }
}

/// Answers that wait to be written; when so many do, no further line is started.
const QUEUED_MESSAGES: usize = 64;

/// Short answers are written together up to about this size.
const BATCH_BYTES: usize = 64 * 1024;

/// A descriptor, and how to write it without being held up.
struct Output {
    file: File,
    /// The most that one write may carry.
    piece_bytes: usize,
    waiter: Waiter,
}

impl Output {
    /// Writes messages, a line each, until there are no more.
    fn write(&self, mut queue: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
        let mut batch = Vec::new();
        while let Some(message) = queue.blocking_recv() {
            push_line(&mut batch, &message);
            while batch.len() < BATCH_BYTES
                && let Ok(message) = queue.try_recv()
            {
                push_line(&mut batch, &message);
            }
            self.write_all(&batch)?;
            batch.clear();
            batch.shrink_to(BATCH_BYTES);
        }
        Ok(())
    }

    fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if !self.waiter.wait(&self.file, PollFlags::OUT)? {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let piece = &bytes[..bytes.len().min(self.piece_bytes)];
            match (&self.file).write(piece) {
                Ok(count) => bytes = &bytes[count..],
                Err(fault) if may_retry(&fault) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }
}

fn push_line(batch: &mut Vec<u8>, message: &[u8]) {
    batch.extend_from_slice(message);
    batch.push(b'\n');
}

/// How much one write may carry. A descriptor in blocking mode that poll(2) calls writable takes `PIPE_BUF` bytes
/// without blocking, and more could hold the thread past its [`Stop`]; its mode may be shared with other processes,
/// so it is not changed.
fn piece_bytes(descriptor: &OwnedFd) -> io::Result<usize> {
    let flags = fcntl_getfl(descriptor)?;
    Ok(match flags.contains(OFlags::NONBLOCK) {
        true => usize::MAX,
        false => rustix::pipe::PIPE_BUF,
    })
}
