//! The stream of a call that its client may leave and come back to (MCP 2025-11-25 basic/transports, "Resumability and
//! Redelivery").

use std::{collections::VecDeque, sync::Arc, time::Duration};

use mcp_protocol::{EventId, Scope, StreamHead, StreamKind};
use tokio::{select, sync::Notify, time::timeout};

use crate::{
    detached::Detached,
    host::Host,
    replay::Replay,
    stream::{CallStream, Part},
};

/// One response of the stream. Dropping it keeps the rest, and what went out last, for the next response.
pub struct ResumableStream<H: Host> {
    host: Arc<H>,
    /// Present until this is dropped.
    rest: Option<Box<Detached<H>>>,
    /// What goes out before anything new.
    ahead: VecDeque<Vec<u8>>,
    /// Told when another response goes on.
    leaves: Arc<Notify>,
    /// The head of a response other than the first.
    head: Option<StreamHead>,
}

impl<H: Host> ResumableStream<H> {
    /// The first response, which belongs to the call's request. It begins with a place to come back to (LHT-10).
    pub(crate) fn begin(host: &Arc<H>, owner: Scope, call: CallStream<H>) -> Self {
        let replay = Replay::new(StreamKind::Post, host.buffers());
        let priming = replay.place().priming();
        let rest = Detached {
            owner,
            replay,
            call: Some(call),
        };
        Self::of(host, Box::new(rest), [priming].into())
    }

    /// One more response, from `place` on; `None` where what followed that is not kept.
    pub(crate) fn resume(host: &Arc<H>, rest: Box<Detached<H>>, place: &EventId) -> Option<Self> {
        let missed = rest.replay.after(place);
        let is_known = missed.is_some();
        let stream = Self::of(host, rest, missed.unwrap_or_default().into());
        is_known.then_some(stream)
    }

    /// The same, begun by this head: the first was its own request's.
    pub(crate) fn with_head(mut self, head: StreamHead) -> Self {
        self.head = Some(head);
        self
    }

    fn of(host: &Arc<H>, rest: Box<Detached<H>>, ahead: VecDeque<Vec<u8>>) -> Self {
        let leaves = host.detached().attach(&rest.owner, &rest.replay.place());
        Self {
            host: Arc::clone(host),
            rest: Some(rest),
            ahead,
            leaves,
            head: None,
        }
    }

    /// Begins the HTTP response.
    pub(crate) fn open(&mut self) -> StreamHead {
        let call = self.rest.as_mut().and_then(|rest| rest.call.as_mut());
        let own = call.map(CallStream::open);
        self.head.take().or(own).unwrap_or_default()
    }

    /// Waits until [`ResumableStream::next`] has a piece without waiting. Cancel safe.
    pub(crate) async fn ready(&mut self) {
        if let Some(call) = self.awaited() {
            call.ready().await;
        }
    }

    /// The next piece, waiting at most `patience` for it.
    pub(crate) async fn next(&mut self, patience: Duration) -> Part {
        if let Some(event) = self.ahead.pop_front() {
            return self.frame(event);
        }
        let leaves = Arc::clone(&self.leaves);
        let Some(call) = self.awaited() else {
            return Part::Break;
        };
        // What is waited for can be given up; what follows takes something out.
        select! {
            biased;
            () = leaves.notified() => return Part::Break,
            ready = timeout(patience, call.ready()) => if ready.is_err() {
                return Part::Quiet;
            },
        }
        let part = call.next(Duration::ZERO).await;
        self.record(part)
    }

    /// The call, while its answer is to come and nothing is ahead of it.
    fn awaited(&mut self) -> Option<&mut CallStream<H>> {
        match self.ahead.is_empty() {
            true => self.rest.as_mut()?.call.as_mut(),
            false => None,
        }
    }

    /// Gives a piece its place in the stream, and keeps it.
    fn record(&mut self, part: Part) -> Part {
        let Some(rest) = &mut self.rest else {
            return part;
        };
        match part {
            Part::Frame(event, room) => {
                drop(room);
                let event = rest.replay.push(|place| place.mark(&event));
                self.frame(event)
            }
            Part::Answer(mut answer, room) => {
                rest.call = None;
                if !answer.body.is_empty() {
                    let body = std::mem::take(&mut answer.body);
                    answer.body = rest.replay.push(|place| place.mark(&body));
                }
                Part::Answer(answer, room)
            }
            part => part,
        }
    }

    fn frame(&self, event: Vec<u8>) -> Part {
        let mut room = self.host.buffers().reserve();
        // The few that find no room in the budget go out all the same: one of each stream at a time.
        room.grow(event.len());
        Part::Frame(event, room)
    }
}

impl<H: Host> Drop for ResumableStream<H> {
    fn drop(&mut self) {
        if let Some(rest) = self.rest.take() {
            self.host.detached().detach(*rest);
        }
    }
}
