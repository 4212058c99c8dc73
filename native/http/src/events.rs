//! The events of one stream: messages, signs of life, and the answer.

use std::sync::Arc;

use bytes::Bytes;
use mcp_driver::{Host, Part, Stream};

use crate::{
    event_body::{EventBody, Next},
    held_bytes::held_bytes,
    service::{ConnectionContext, Report},
    watch::Serving,
};

/// A response that has begun.
pub(crate) struct Events<H: Host> {
    stream: Box<Stream<H>>,
    context: Arc<ConnectionContext<H>>,
    report: Report,
    /// The connection serves a request for as long as this is here.
    serving: Serving,
}

/// Said when there is nothing to say: a comment, which clients pass over.
const SIGN_OF_LIFE: &[u8] = b":\n\n";

impl<H: Host> Events<H> {
    pub(crate) fn new(
        stream: Box<Stream<H>>,
        context: Arc<ConnectionContext<H>>,
        report: Report,
        serving: Serving,
    ) -> Self {
        Self {
            stream,
            context,
            report,
            serving,
        }
    }

    /// The events as a body.
    pub(crate) fn body(self) -> EventBody<Option<Box<Self>>> {
        let unread = self.context.watch.stream();
        EventBody::new(Some(Box::new(self)), next, unread)
    }

    async fn part(&mut self) -> Part {
        let listener = &self.context.listener;
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
                    context,
                    report,
                    serving,
                    ..
                } = *events;
                report.answered(context.listener.host.as_ref(), &answer, last.len());
                drop(serving);
                (!last.is_empty()).then(|| (held_bytes(last, room), None))
            }
        }
    })
}
