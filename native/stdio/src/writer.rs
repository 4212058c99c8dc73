//! Whoever writes the answers: a thread for a descriptor, a task for a callback.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
    sync::Arc,
    thread,
};

use mcp_driver::Reservation;
use rustix::{
    event::PollFlags,
    fs::{OFlags, fcntl_getfl},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
    task::AbortHandle,
};

use crate::{
    credit::Credit,
    reader::may_retry,
    stop::{Stop, Waiter},
};

/// Where answers go, and how that ends.
pub(crate) struct Writer {
    /// Takes messages. Closed when nothing can be written any more.
    pub(crate) messages: mpsc::Sender<Message>,
    /// Says that everything was written, or why not.
    pub(crate) done: oneshot::Receiver<io::Result<()>>,
    /// Ends the writer although its peer does not read.
    pub(crate) stop: Writing,
}

/// One message without its line end, and its share of `max_buffered_bytes` until it is written.
pub(crate) struct Message {
    pub(crate) bytes: Vec<u8>,
    pub(crate) room: Reservation,
}

/// A writer at work, until dropped.
pub(crate) enum Writing {
    /// On a thread.
    Thread { _stop: Stop },
    /// In a task.
    Task(AbortHandle),
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Self::Task(task) = self {
            task.abort();
        }
    }
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
            stop: Writing::Thread { _stop: stop },
        })
    }

    /// Gives whole lines to `callback`, on `runtime`, as far as `credit` goes.
    pub(crate) fn to_callback(
        mut callback: Box<dyn FnMut(Vec<u8>) + Send>,
        credit: Arc<Credit>,
        runtime: &Handle,
    ) -> Self {
        let (messages, mut queue) = mpsc::channel::<Message>(QUEUED_MESSAGES);
        let (finished, done) = oneshot::channel();
        let task = runtime.spawn(async move {
            while let Some(Message { mut bytes, room }) = queue.recv().await {
                credit.take().await;
                bytes.push(b'\n');
                callback(bytes);
                drop(room);
            }
            // The pipe may have ended without waiting for its last words.
            let _ = finished.send(Ok(()));
        });
        Self {
            messages,
            done,
            stop: Writing::Task(task.abort_handle()),
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
    fn write(&self, mut queue: mpsc::Receiver<Message>) -> io::Result<()> {
        let mut batch = Batch::default();
        while let Some(message) = queue.blocking_recv() {
            batch.push(message);
            while batch.bytes.len() < BATCH_BYTES
                && let Ok(message) = queue.try_recv()
            {
                batch.push(message);
            }
            self.write_all(&batch.bytes)?;
            batch.clear();
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

/// Lines that are written together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    rooms: Vec<Reservation>,
}

impl Batch {
    fn push(&mut self, message: Message) {
        self.bytes.extend_from_slice(&message.bytes);
        self.bytes.push(b'\n');
        self.rooms.push(message.room);
    }

    fn clear(&mut self) {
        self.rooms.clear();
        self.bytes.clear();
        self.bytes.shrink_to(BATCH_BYTES);
    }
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
