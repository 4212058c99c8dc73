//! How an exchange is answered: whole, or piece by piece.

use std::{future::Future, sync::Arc, time::Duration};

use mcp_protocol::{Answer, StreamHead};

use crate::{
    buffers::Reservation,
    host::Host,
    listening::Listening,
    resumable::ResumableStream,
    stream::{CallStream, Part},
};

/// How an exchange is answered.
pub enum Served<H: Host> {
    /// With this, whole; and its share of `max_buffered_bytes`, until it is on its way.
    Answer(Answer, Reservation),
    /// Piece by piece, the answer last.
    Stream(Box<Stream<H>>),
}

/// An answer that comes piece by piece.
pub enum Stream<H: Host> {
    /// A call that sends messages first, or takes long.
    Call(CallStream<H>),
    /// The same for a client that may leave and come back.
    Resumable(ResumableStream<H>),
    /// Changes, until the client has enough or the transport ends.
    Listening(Listening<H>),
}

impl<H: Host> Stream<H> {
    /// The stream of a call.
    pub(crate) fn of_call(host: &Arc<H>, call: CallStream<H>) -> Self {
        match call.resumable() {
            Some(owner) => Self::Resumable(ResumableStream::begin(host, owner, call)),
            None => Self::Call(call),
        }
    }

    /// Begins the HTTP response.
    pub fn open(&mut self) -> StreamHead {
        match self {
            Self::Call(call) => call.open(),
            Self::Resumable(stream) => stream.open(),
            Self::Listening(listening) => listening.open(),
        }
    }

    /// Waits until [`Stream::next`] has a piece without waiting, or has an end to make. Cancel safe.
    pub async fn ready(&mut self, closing: impl Future<Output = ()>) {
        match self {
            Self::Call(call) => call.ready().await,
            Self::Resumable(stream) => stream.ready().await,
            Self::Listening(listening) => listening.ready(closing).await,
        }
    }

    /// The next piece, waiting at most `patience` for it. What lasts for ever ends when `closing` is told; a call is
    /// waited for.
    pub async fn next(&mut self, patience: Duration, closing: impl Future<Output = ()>) -> Part {
        match self {
            Self::Call(call) => call.next(patience).await,
            Self::Resumable(stream) => stream.next(patience).await,
            Self::Listening(listening) => listening.next(patience, closing).await,
        }
    }

    /// What follows the answer on a pipe.
    pub fn farewell(&self) -> Option<Vec<u8>> {
        match self {
            Self::Call(_) | Self::Resumable(_) => None,
            Self::Listening(listening) => listening.farewell(),
        }
    }
}
