//! What a response carries: an answer's bytes, or events.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use mcp_driver::Reservation;

/// The body of a response.
pub(crate) enum AnswerBody {
    /// All of it, and its share of `max_buffered_bytes` until the peer took it. An HTTP/2 peer that opens no window
    /// leaves it where it is.
    Whole {
        bytes: Full<Bytes>,
        _room: Reservation,
    },
    /// One event after another.
    Events(Pin<Box<dyn Body<Data = Bytes, Error = Infallible> + Send>>),
}

impl AnswerBody {
    pub(crate) fn whole(bytes: Vec<u8>, room: Reservation) -> Self {
        Self::Whole {
            bytes: Full::new(bytes.into()),
            _room: room,
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole { bytes, .. } => Pin::new(bytes).poll_frame(cx),
            Self::Events(events) => events.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole { bytes, .. } => bytes.is_end_stream(),
            Self::Events(events) => events.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole { bytes, .. } => bytes.size_hint(),
            Self::Events(events) => events.size_hint(),
        }
    }
}
