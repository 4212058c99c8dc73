//! What a legacy client hears of without asking: changed lists, and resources that it subscribed to.

use std::sync::Arc;

use mcp_driver::{Hearing, Host};
use mcp_protocol::{Pipe, Subscription, Uris};
use tokio::{
    select,
    sync::{mpsc, watch},
    task::AbortHandle,
};

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
        messages: mpsc::Sender<Vec<u8>>,
    ) -> Option<Self> {
        let subscription: Subscription = pipe.subscription(&host.shared())?;
        let (uris, changed) = watch::channel(subscription.filter.uris.clone());
        let hearing = host
            .subscribers()
            .begin(subscription, host.buffers())
            .ok()?;
        let task = tokio::spawn(write(hearing, changed, messages)).abort_handle();
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
    messages: mpsc::Sender<Vec<u8>>,
) {
    loop {
        select! {
            biased;
            Ok(()) = changed.changed() => {
                let uris = Uris::clone(&changed.borrow_and_update());
                hearing.set_uris(uris);
            }
            message = hearing.next() => {
                let Some(message) = message else { return };
                if messages.send(message).await.is_err() {
                    return;
                }
            }
        }
    }
}
