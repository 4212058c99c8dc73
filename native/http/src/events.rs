//! The events of one call: its messages, signs of life, and its answer.

use std::sync::Arc;

use bytes::Bytes;
use mcp_driver::{CallStream, Host, Part};

use crate::{
    event_body::{EventBody, Next},
    held_bytes::held_bytes,
    service::{ConnectionContext, Report},
    watch::Serving,
};

/// A call whose response has begun.
pub(crate) struct Events<H: Host> {
    stream: Box<CallStream<H>>,
    context: Arc<ConnectionContext<H>>,
    report: Report,
    /// The connection serves a request for as long as this is here.
    serving: Serving,
}

/// Said when there is nothing to say: a comment, which clients pass over.
const SIGN_OF_LIFE: &[u8] = b":\n\n";

impl<H: Host> Events<H> {
    pub(crate) fn new(
        stream: Box<CallStream<H>>,
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
        self.stream
            .next(self.context.listener.options.keep_alive)
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
