//! The thread that reads a descriptor.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    os::fd::OwnedFd,
    thread,
};

use bytes::Bytes;
use rustix::event::PollFlags;
use tokio::sync::mpsc;

use crate::stop::{Stop, Waiter};

/// What was read, or why no more can be.
pub(crate) type Chunk = io::Result<Bytes>;

/// Starts to read `descriptor` into `chunks`, until it ends, fails, or the [`Stop`] is dropped.
///
/// The thread waits with poll(2) rather than in read(2), so that it can be stopped; the descriptor's own mode, which
/// it may share with other processes, is left alone. Pipes, sockets, files and terminals all serve.
pub(crate) fn start(descriptor: OwnedFd, chunks: mpsc::Sender<Chunk>) -> io::Result<Stop> {
    let (stop, waiter) = Stop::new()?;
    thread::Builder::new()
        .name("mcp-stdio-read".to_owned())
        .spawn(move || {
            if let Err(fault) = read(&descriptor.into(), &waiter, &chunks) {
                // Nobody listens any more when the pipe has ended meanwhile.
                let _ = chunks.blocking_send(Err(fault));
            }
        })?;
    Ok(stop)
}

fn read(mut input: &File, waiter: &Waiter, chunks: &mpsc::Sender<Chunk>) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    while waiter.wait(input, PollFlags::IN)? {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(fault) if may_retry(&fault) => continue,
            Err(fault) => return Err(fault),
        };
        let chunk = Bytes::copy_from_slice(&buffer[..count]);
        if chunks.blocking_send(Ok(chunk)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Whether a read or write failed for now only: a signal came, or another process was quicker.
pub(crate) fn may_retry(fault: &io::Error) -> bool {
    matches!(fault.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

const READ_BYTES: usize = 64 * 1024;
