//! How many lines a callback is given before their receiver says that it has dealt with some.

use tokio::sync::Semaphore;

/// Lines that may be on their way at a time.
#[derive(Debug)]
pub(crate) struct Credit(Semaphore);

impl Credit {
    pub(crate) fn new() -> Self {
        Self(Semaphore::new(MAX_LINES))
    }

    /// Waits until one more line may go out.
    pub(crate) async fn take(&self) {
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }

    /// A line has been dealt with. One that never went out counts for nothing.
    pub(crate) fn give(&self) {
        if self.0.available_permits() < MAX_LINES {
            self.0.add_permits(1);
        }
    }
}

/// Each holds at most a result.
const MAX_LINES: usize = 16;

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::time::{Duration, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn goes_as_far_as_it_is_given_back() {
        let credit = Credit::new();
        credit.give();
        for _ in 0..MAX_LINES {
            credit.take().await;
        }
        let mut next = pin!(credit.take());
        assert!(timeout(Duration::from_secs(1), &mut next).await.is_err());
        credit.give();
        next.await;
    }
}
