//! The sign that a pipe ends, for what would go on for ever.

use tokio::sync::watch;

/// Gives the sign, at the latest when dropped.
#[derive(Debug)]
pub(crate) struct Close(watch::Sender<bool>);

/// Gets it.
#[derive(Clone, Debug)]
pub(crate) struct Closing(watch::Receiver<bool>);

/// Both ends.
pub(crate) fn closing() -> (Close, Closing) {
    let (sender, receiver) = watch::channel(false);
    (Close(sender), Closing(receiver))
}

impl Close {
    pub(crate) fn tell(&self) {
        self.0.send_replace(true);
    }
}

impl Closing {
    /// Waits for the sign. Cancel safe.
    pub(crate) async fn told(mut self) {
        // Whoever could give it is gone: then there is nothing to wait for either.
        let _ = self.0.wait_for(|told| *told).await;
    }
}
