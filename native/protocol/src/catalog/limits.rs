//! How much of one tool may run: at once, in a stretch of time, and for how long (requirement TOOL-17).

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use super::definition::{DefinitionFault, fault};
use crate::{rate::Rate, time::Now};

/// The limits of one tool; what is absent is limited by the instance alone.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ToolLimits {
    /// How long a call may run, instead of [`Config::call_timeout_ms`](crate::Config::call_timeout_ms).
    pub timeout_ms: Option<u64>,
    /// How many calls may run at once.
    pub max_concurrency: Option<usize>,
    /// How many calls may start in a stretch of time.
    pub rate: Option<Rate>,
}

/// Counts the calls of one tool. Two numbers: it never grows and nobody waits for it.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    running: AtomicUsize,
    /// What is kept of the calls so far.
    paced_until: AtomicU64,
}

/// A running call's place among those that may run at once; given back once, when dropped at the latest.
pub struct Place {
    gate: Arc<Gate>,
    is_held: AtomicBool,
}

/// Why a call may not start now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Full {
    /// As many run as may.
    Concurrency {
        /// How many that is.
        allowed: usize,
    },
    /// As many started as may.
    Rate {
        /// How many that is.
        rate: Rate,
        /// When the next one may.
        retry_after_ms: u64,
    },
}

impl ToolLimits {
    /// Whether anything has to be counted.
    pub(crate) fn count(&self) -> bool {
        self.max_concurrency.is_some() || self.rate.is_some()
    }

    /// Refuses limits that no call could keep to.
    pub(crate) fn check(&self, tool: &str) -> Result<(), DefinitionFault> {
        let refuse = |place, message: &str| Err(fault(tool, place, message));
        let rate = self.rate.unwrap_or(Rate {
            count: 1,
            per_ms: 1,
        });
        if self.timeout_ms == Some(0) {
            return refuse("timeout_ms", "must be at least 1");
        }
        if self.max_concurrency == Some(0) {
            return refuse("max_concurrency", "must be at least 1");
        }
        if rate.count == 0 || !(1..=MAX_PER_MS).contains(&rate.per_ms) {
            return refuse("rate", "must allow at least 1 call in 1 ms to one day");
        }
        Ok(())
    }
}

/// A day: what is paced over longer belongs into a store.
const MAX_PER_MS: u64 = 24 * 60 * 60 * 1_000;

impl Gate {
    /// Lets a call in, or says why not.
    pub(crate) fn enter(self: &Arc<Self>, limits: &ToolLimits, now: Now) -> Result<Place, Full> {
        let running = self.running.fetch_add(1, Ordering::Relaxed);
        let place = Place {
            gate: Arc::clone(self),
            is_held: AtomicBool::new(true),
        };
        if let Some(allowed) = limits.max_concurrency.filter(|most| running >= *most) {
            return Err(Full::Concurrency { allowed });
        }
        match limits.rate {
            Some(rate) => self.pace(rate, now).map(|()| place),
            None => Ok(place),
        }
    }

    fn pace(&self, rate: Rate, now: Now) -> Result<(), Full> {
        self.paced_until
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |paced| {
                rate.once_more(paced, now).ok()
            })
            .map(|_| ())
            .map_err(|paced| Full::Rate {
                rate,
                retry_after_ms: rate.once_more(paced, now).err().unwrap_or_default(),
            })
    }
}

impl Place {
    /// Gives the place back before it is dropped.
    pub fn give_back(&self) {
        if self.is_held.swap(false, Ordering::Relaxed) {
            self.gate.running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Place")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(monotonic_ms: u64) -> Now {
        Now {
            wall_ms: 0,
            monotonic_ms,
        }
    }

    #[test]
    fn a_place_is_given_back_when_dropped() {
        let gate = Arc::new(Gate::default());
        let limits = ToolLimits {
            max_concurrency: Some(2),
            ..ToolLimits::default()
        };
        let first = gate.enter(&limits, at(0)).expect("one of two");
        let _second = gate.enter(&limits, at(0)).expect("two of two");
        assert_eq!(
            gate.enter(&limits, at(0)).err(),
            Some(Full::Concurrency { allowed: 2 })
        );
        first.give_back();
        let third = gate.enter(&limits, at(0)).expect("the first is gone");
        drop(first);
        assert_eq!(
            gate.enter(&limits, at(0)).err(),
            Some(Full::Concurrency { allowed: 2 })
        );
        drop(third);
        assert!(gate.enter(&limits, at(0)).is_ok());
    }

    #[test]
    fn a_rate_allows_its_count_at_once_and_then_its_pace() {
        let gate = Arc::new(Gate::default());
        let rate = Rate {
            count: 3,
            per_ms: 300,
        };
        let too_soon = |retry_after_ms| {
            Err(Full::Rate {
                rate,
                retry_after_ms,
            })
        };
        let limits = ToolLimits {
            rate: Some(rate),
            ..ToolLimits::default()
        };
        let enter = |now| gate.enter(&limits, at(now)).map(drop);
        for _ in 0..3 {
            assert_eq!(enter(1_000), Ok(()));
        }
        assert_eq!(enter(1_000), too_soon(100));
        assert_eq!(enter(1_099), too_soon(1));
        assert_eq!(enter(1_100), Ok(()));
        assert!(enter(1_100).is_err());
        assert_eq!(enter(9_000), Ok(()));
        assert_eq!(gate.running.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn any_stretch_of_time_holds_at_most_twice_the_count_and_an_even_pace() {
        let gate = Arc::new(Gate::default());
        let rate = Some(Rate {
            count: 7,
            per_ms: 1_000,
        });
        let limits = ToolLimits {
            rate,
            ..ToolLimits::default()
        };
        let started = (0..10_000).filter(|now| gate.enter(&limits, at(*now)).is_ok());
        assert_eq!(started.count(), 7 + 7 * 10 - 1);
    }
}
