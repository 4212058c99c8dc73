//! What a legacy client hears of without asking: changed lists, and resources that it subscribed to.

use std::{future::pending, sync::Arc, time::Duration};

use mcp_driver::{Host, Listening, Part};
use mcp_protocol::Pipe;
use tokio::{sync::mpsc, task::AbortHandle};

use crate::writer::Message;

/// Writes changes to a client from the line after `initialize` on; ends when dropped.
pub(crate) struct Changes(AbortHandle);

impl Changes {
    /// Begins; nothing comes of it where no session is open, or as many subscriptions as the instance allows.
    pub(crate) fn begin<H: Host>(
        host: &Arc<H>,
        pipe: &Pipe,
        messages: mpsc::Sender<Message>,
    ) -> Option<Self> {
        let listening = Listening::of_pipe(host, pipe)?;
        Some(Self(
            tokio::spawn(write(listening, messages)).abort_handle(),
        ))
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn write<H: Host>(mut listening: Listening<H>, messages: mpsc::Sender<Message>) {
    loop {
        match listening.next(Duration::MAX, pending()).await {
            Part::Frame(bytes, room) => {
                if messages.send(Message { bytes, room }).await.is_err() {
                    return;
                }
            }
            Part::Quiet => {}
            Part::Break | Part::Answer(..) => return,
        }
    }
}
