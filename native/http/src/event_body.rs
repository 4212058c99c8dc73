//! A response that is an event stream: one event after another, as fast as the peer reads.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame};

use crate::unread::Unread;

/// A body made of what `next` comes up with: the next bytes and what then comes next, or `None` at the end.
pub(crate) struct EventBody<S> {
    next: fn(S) -> Next<S>,
    state: State<S>,
    unread: Unread,
}

pub(crate) type Next<S> = Pin<Box<dyn Future<Output = Option<(Bytes, S)>> + Send>>;

enum State<S> {
    Resting(S),
    Waiting(Next<S>),
    Over,
}

impl<S> EventBody<S> {
    pub(crate) fn new(source: S, next: fn(S) -> Next<S>, unread: Unread) -> Self {
        Self {
            next,
            state: State::Resting(source),
            unread,
        }
    }
}

impl<S: Unpin> Body for EventBody<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        this.unread.asked_for_more();
        let mut waiting = match std::mem::replace(&mut this.state, State::Over) {
            State::Resting(source) => (this.next)(source),
            State::Waiting(waiting) => waiting,
            State::Over => return Poll::Ready(None),
        };
        let Poll::Ready(next) = waiting.as_mut().poll(cx) else {
            this.state = State::Waiting(waiting);
            return Poll::Pending;
        };
        Poll::Ready(next.map(|(bytes, source)| {
            this.state = State::Resting(source);
            this.unread.handed_out();
            Ok(Frame::data(bytes))
        }))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Over)
    }
}
