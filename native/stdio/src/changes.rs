//! What a legacy client hears of without asking: changed lists, and resources that it subscribed to.

use std::sync::Arc;

use mcp_driver::{Buffers, Hearing, Host};
use mcp_protocol::{Pipe, Subscription, Uris};
use tokio::{
    select,
    sync::{mpsc, watch},
    task::AbortHandle,
};

use crate::writer::Message;

/// Writes changes to a client from the line after `initialize` on; ends when dropped.
pub(crate) struct Changes {
    uris: watch::Sender<Uris>,
    task: AbortHandle,
}

impl Changes {
    /// Begins; nothing comes of it where no session is open, or as many subscriptions as the instance allows.
    pub(crate) fn begin<H: Host>(
        host: &Arc<H>,
        pipe: &Pipe,
        messages: mpsc::Sender<Message>,
    ) -> Option<Self> {
        let subscription: Subscription = pipe.subscription(&host.shared())?;
        let (uris, changed) = watch::channel(subscription.filter.uris.clone());
        let hearing = host
            .subscribers()
            .begin(subscription, host.buffers())
            .ok()?;
        let buffers = Arc::clone(host.buffers());
        let task = tokio::spawn(write(hearing, changed, messages, buffers)).abort_handle();
        Some(Self { uris, task })
    }

    /// From now on the client hears of these resources.
    pub(crate) fn set_uris(&self, uris: Uris) {
        self.uris.send_replace(uris);
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn write(
    mut hearing: Hearing,
    mut changed: watch::Receiver<Uris>,
    messages: mpsc::Sender<Message>,
    buffers: Arc<Buffers>,
) {
    loop {
        select! {
            biased;
            Ok(()) = changed.changed() => {
                let uris = Uris::clone(&changed.borrow_and_update());
                hearing.set_uris(uris);
            }
            message = hearing.next() => {
                let Some(bytes) = message else { return };
                let mut room = buffers.reserve();
                // One short message at a time goes out also where it finds no room.
                room.grow(bytes.len());
                if messages.send(Message { bytes, room }).await.is_err() {
                    return;
                }
            }
        }
    }
}
