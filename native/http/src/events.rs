//! The events of one stream: messages, signs of life, and the answer.

use bytes::Bytes;
use mcp_driver::{Host, Part, Stream};

use crate::{
    event_body::{EventBody, Next},
    held_bytes::held_bytes,
    service::{Report, ServedRequest},
};

/// A response that has begun.
pub(crate) struct Events<H: Host> {
    stream: Box<Stream<H>>,
    /// The connection serves a request for as long as this is here.
    serving: ServedRequest<H>,
    report: Report,
}

/// Said when there is nothing to say: a comment, which clients pass over.
const SIGN_OF_LIFE: &[u8] = b":\n\n";

impl<H: Host> Events<H> {
    pub(crate) fn new(stream: Box<Stream<H>>, serving: ServedRequest<H>, report: Report) -> Self {
        Self {
            stream,
            serving,
            report,
        }
    }

    /// The events as a body.
    pub(crate) fn body(self) -> EventBody<Option<Box<Self>>> {
        let unread = self.serving.watch.stream();
        EventBody::new(Some(Box::new(self)), next, unread)
    }

    async fn part(&mut self) -> Part {
        let listener = &self.serving.listener;
        self.stream
            .next(listener.options.keep_alive, listener.connections.drains())
            .await
    }
}

/// The next event. After the answer nothing is left to ask.
fn next<H: Host>(events: Option<Box<Events<H>>>) -> Next<Option<Box<Events<H>>>> {
    Box::pin(async {
        let mut events = events?;
        match events.part().await {
            Part::Frame(frame, room) => Some((held_bytes(frame, room), Some(events))),
            Part::Quiet => Some((Bytes::from_static(SIGN_OF_LIFE), Some(events))),
            Part::Break => None,
            Part::Answer(mut answer, room) => {
                let last = std::mem::take(&mut answer.body);
                let Events {
                    serving, report, ..
                } = *events;
                report.answered(serving.listener.host.as_ref(), &answer, last.len());
                drop(serving);
                (!last.is_empty()).then(|| (held_bytes(last, room), None))
            }
        }
    })
}
