//! How often something may happen, and what is kept of how often it did: one number (the generic cell rate algorithm,
//! ITU-T I.371).

use crate::time::Now;

/// `count` times in any `per_ms` milliseconds, all of them at once if need be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rate {
    /// The number of times.
    pub count: u32,
    /// The stretch of time.
    pub per_ms: u64,
}

/// When what happened so far would all have happened at an even pace, in nanoseconds of the monotonic clock.
pub(crate) type PacedUntil = u64;

impl Rate {
    /// Once more, or after how many milliseconds that may be.
    pub(crate) fn once_more(self, paced: PacedUntil, now: Now) -> Result<PacedUntil, u64> {
        let now = now.monotonic_ms * NS_PER_MS;
        let window = self.per_ms * NS_PER_MS;
        let next = paced.max(now) + window / u64::from(self.count);
        match next <= now + window {
            true => Ok(next),
            false => Err((next - now - window).div_ceil(NS_PER_MS)),
        }
    }

    /// Once more, whether or not that may be: it happened. No more is owed than happens in a stretch of time.
    pub(crate) fn owed(self, paced: PacedUntil, now: Now) -> PacedUntil {
        let now = now.monotonic_ms * NS_PER_MS;
        let window = self.per_ms * NS_PER_MS;
        let next = paced.max(now) + window / u64::from(self.count);
        next.min(now + 2 * window)
    }

    /// Whether nothing is left to be kept of what happened.
    pub(crate) fn is_settled(paced: PacedUntil, now: Now) -> bool {
        paced <= now.monotonic_ms * NS_PER_MS
    }
}

const NS_PER_MS: u64 = 1_000_000;
