//! What a legacy client hears of without asking: changed lists, and resources that it subscribed to.

use std::sync::Arc;

use mcp_driver::{Buffers, Hearing, Host};
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
        let subscription = pipe.subscription(&host.shared())?;
        let hearing = host.subscribers().begin(subscription, host.buffers());
        let writing = write(hearing.ok()?, messages, Arc::clone(host.buffers()));
        Some(Self(tokio::spawn(writing).abort_handle()))
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn write(mut hearing: Hearing, messages: mpsc::Sender<Message>, buffers: Arc<Buffers>) {
    while let Some(bytes) = hearing.next().await {
        let mut room = buffers.reserve();
        // One short message at a time goes out also where it finds no room.
        room.grow(bytes.len());
        if messages.send(Message { bytes, room }).await.is_err() {
            return;
        }
    }
}
