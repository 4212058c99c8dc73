//! A connection's byte stream as hyper sees it.

use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::watch::Watch;

/// Gives back the bytes that detection read, notes what moves, and closes without tearing the last answer.
pub(crate) struct Socket<S> {
    stream: TokioIo<S>,
    prefix: Bytes,
    watch: Arc<Watch>,
    /// Whether the last write or flush found the peer not reading.
    blocked: bool,
    ending: Ending,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ending {
    Open,
    /// Our side is closed; so many bytes of the peer's were read and thrown away since.
    Discarding(usize),
    /// Our side is closed, and nothing of the peer's matters.
    Done,
}

impl<S> Socket<S> {
    pub(crate) fn new(stream: S, prefix: Bytes, watch: Arc<Watch>) -> Self {
        Self {
            stream: TokioIo::new(stream),
            prefix,
            watch,
            blocked: false,
            ending: Ending::Open,
        }
    }

    /// The stream, for an answer that hyper knows nothing of; `None` when the last one is only half out.
    pub(crate) fn into_quiet(self) -> Option<S> {
        (!self.blocked).then(|| self.stream.into_inner())
    }

    fn noting_pauses<T>(&mut self, written: Poll<T>) -> Poll<T> {
        if written.is_pending() {
            self.blocked = true;
            self.watch.stalled();
        } else if self.blocked {
            self.blocked = false;
            self.watch.advanced();
        }
        written
    }
}

impl<S: AsyncRead + Unpin> Socket<S> {
    /// Reads and throws away what the peer still sends. Closing with unread bytes would reset the connection, and the
    /// reset would overtake the answer (RFC 9112 §9.6).
    fn poll_discard(&mut self, cx: &mut Context<'_>, mut discarded: usize) -> Poll<io::Result<()>> {
        let mut bytes = [MaybeUninit::uninit(); 4096];
        while discarded < MAX_DISCARDED_BYTES {
            let mut buffer = ReadBuf::uninit(&mut bytes);
            let stream = Pin::new(self.stream.inner_mut());
            ready!(stream.poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                break;
            }
            discarded += buffer.filled().len();
            self.ending = Ending::Discarding(discarded);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> Read for Socket<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.prefix.has_remaining() {
            let length = this.prefix.len().min(buffer.remaining());
            buffer.put_slice(&this.prefix.split_to(length));
            return Poll::Ready(Ok(()));
        }
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if read.is_ready() {
            this.watch.head_began();
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Write for Socket<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.noting_pauses(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut bytes = [MaybeUninit::uninit(); JOINED_BYTES];
        let written = match joined(slices, &mut bytes) {
            Some(bytes) => Pin::new(&mut this.stream).poll_write(cx, bytes.filled()),
            None => Pin::new(&mut this.stream).poll_write_vectored(cx, slices),
        };
        this.noting_pauses(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        this.noting_pauses(flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.ending == Ending::Open {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.ending = if this.watch.may_have_unread() {
                Ending::Discarding(0)
            } else {
                Ending::Done
            };
            this.watch.close();
        }
        match this.ending {
            Ending::Discarding(discarded) => this.poll_discard(cx, discarded),
            _ => Poll::Ready(Ok(())),
        }
    }
}

/// A short answer in one piece: copying it costs less than what the system does for each piece.
fn joined<'a>(slices: &[IoSlice<'_>], bytes: &'a mut [MaybeUninit<u8>]) -> Option<ReadBuf<'a>> {
    let length: usize = slices.iter().map(|slice| slice.len()).sum();
    if length > bytes.len() {
        return None;
    }
    let mut joined = ReadBuf::uninit(bytes);
    for slice in slices {
        joined.put_slice(slice);
    }
    Some(joined)
}

const JOINED_BYTES: usize = 2_048;

/// Bytes read and thrown away after the last answer before the connection is closed regardless.
const MAX_DISCARDED_BYTES: usize = 4 * 1024 * 1024;
