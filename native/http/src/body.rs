//! Reads one body: bounded in bytes and time, and counted against the instance's budget as it grows.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::{
    Error,
    body::{Body, Frame, Incoming},
};
use mcp_driver::{Reservation, unheard_if};
use mcp_protocol::{BodyFault, Input};
use tokio::time::timeout;

/// Reads all of `body`, at most `max_bytes`, within `limit`; `room` holds its bytes in the budget.
///
/// A declared length over `max_bytes` is refused before anything is read, and before `100 Continue` is sent.
pub(crate) async fn read_body(
    body: Incoming,
    max_bytes: usize,
    room: &mut Reservation,
    limit: Duration,
) -> Input {
    if body.size_hint().lower() > max_bytes as u64 {
        return Input::BodyFault(BodyFault::TooLarge);
    }
    let reading = pin!(collect(body, max_bytes, room));
    match within(limit, reading).await {
        Ok(bytes) => Input::Body(bytes),
        Err(fault) => Input::BodyFault(fault),
    }
}

/// Sets a timer only when the body is not there yet: as a rule it came with the head.
async fn within<T>(
    limit: Duration,
    mut reading: Pin<&mut impl Future<Output = Result<T, BodyFault>>>,
) -> Result<T, BodyFault> {
    match poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx))).await {
        Poll::Ready(read) => read,
        // In a box: it is large, and few requests come to it.
        Poll::Pending => Box::pin(timeout(limit, reading))
            .await
            .unwrap_or_else(|_| Err(overdue(limit))),
    }
}

fn overdue(limit: Duration) -> BodyFault {
    BodyFault::Timeout {
        limit_ms: limit.as_millis() as u64,
    }
}

async fn collect(
    mut body: Incoming,
    max_bytes: usize,
    room: &mut Reservation,
) -> Result<Bytes, BodyFault> {
    let mut whole = Vec::new();
    while let Some(data) = next_data(&mut body).await? {
        if data.len() > max_bytes - whole.len() {
            return Err(BodyFault::TooLarge);
        }
        if !room.grow(data.len()) {
            return Err(BodyFault::NoRoom);
        }
        let is_last = body.is_end_stream();
        if whole.is_empty() && is_last && data.len() >= WORTH_SHARING_BYTES {
            return Ok(data);
        }
        whole.extend_from_slice(&data);
        if is_last {
            break;
        }
    }
    Ok(whole.into())
}

/// The next bytes; `None` at the end. Trailers are passed over: no rule gives them a meaning.
async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, BodyFault> {
    loop {
        match poll_fn(|cx| poll_frame(body, cx)).await {
            None => return Ok(None),
            Some(Err(_)) => return Err(BodyFault::Broken),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// The connection need not read on for the last bytes of a body.
fn poll_frame(
    body: &mut Incoming,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
    unheard_if(|| {
        let polled = Pin::new(&mut *body).poll_frame(cx);
        (polled, body.is_end_stream())
    })
}

/// A smaller body is copied: shared, it would keep the whole read buffer of its connection alive.
const WORTH_SHARING_BYTES: usize = 16 * 1024;
