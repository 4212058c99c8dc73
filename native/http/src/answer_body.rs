//! The bytes of an answer on their way out, counted against the instance's budget until the peer took them.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use mcp_driver::Reservation;

/// A whole body and its share of `max_buffered_bytes`. An HTTP/2 peer that opens no window leaves it where it is.
pub(crate) struct AnswerBody {
    bytes: Full<Bytes>,
    _room: Reservation,
}

impl AnswerBody {
    pub(crate) fn new(bytes: Vec<u8>, room: Reservation) -> Self {
        Self {
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
        Pin::new(&mut self.bytes).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes.size_hint()
    }
}
