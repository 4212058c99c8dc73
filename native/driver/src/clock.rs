//! The time of day and a clock that never goes back, for the price of one.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use mcp_protocol::Now;

/// The time of day is told by the other clock, and looked up so often: when somebody sets it, that shows this much later.
const TRUSTED_MS: u64 = 100;

/// A look at both clocks that took longer was interrupted and tells how they stood to each other only roughly.
const ONE_LOOK_MS: u64 = 1;

/// What the clocks said when both were last looked at.
struct Clocks {
    start: Instant,
    /// The time of day at `start`, had the other clock run since then as it did lately.
    wall_at_start_ms: AtomicU64,
    /// Until when that is trusted, in milliseconds since `start`.
    trusted_until_ms: AtomicU64,
}

static CLOCKS: LazyLock<Clocks> = LazyLock::new(|| Clocks {
    start: Instant::now(),
    wall_at_start_ms: AtomicU64::default(),
    trusted_until_ms: AtomicU64::default(),
});

/// The time by both clocks.
pub fn now() -> Now {
    let clocks = &*CLOCKS;
    let monotonic_ms = clocks.monotonic_ms();
    if monotonic_ms >= clocks.trusted_until_ms.load(Ordering::Acquire) {
        return clocks.look(monotonic_ms);
    }
    Now {
        wall_ms: clocks.wall_at_start_ms.load(Ordering::Relaxed) + monotonic_ms,
        monotonic_ms,
    }
}

impl Clocks {
    fn monotonic_ms(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    #[cold]
    fn look(&self, begun_ms: u64) -> Now {
        let wall_ms = wall_ms();
        let monotonic_ms = self.monotonic_ms();
        if monotonic_ms <= begun_ms + ONE_LOOK_MS {
            let at_start = wall_ms.saturating_sub(monotonic_ms);
            self.wall_at_start_ms.store(at_start, Ordering::Relaxed);
            let until = monotonic_ms + TRUSTED_MS;
            self.trusted_until_ms.store(until, Ordering::Release);
        }
        Now {
            wall_ms,
            monotonic_ms,
        }
    }
}

fn wall_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_millis() as u64
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;

    #[test]
    fn tells_the_time_of_day() {
        for pause in [0, 1, TRUSTED_MS, 1] {
            thread::sleep(Duration::from_millis(pause));
            let (before, told, after) = (wall_ms(), now().wall_ms, wall_ms());
            // Both clocks are cut down to milliseconds, and looked at within one.
            assert!(before <= told + 2 && told <= after + 2);
        }
    }

    #[test]
    fn never_goes_back() {
        let mut last = now().monotonic_ms;
        for _ in 0..1_000 {
            let next = now().monotonic_ms;
            assert!(next >= last);
            last = next;
        }
    }
}
