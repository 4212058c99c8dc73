//! A rate for each of many: token buckets in a table that never grows beyond its bound.
//!
//! Time is an argument and a bucket can be looked at without taking from it; a table of strangers' addresses has a bound
//! that holds at once. No crate for rate limits that we know of has all three.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    rate::{PacedUntil, Rate},
    time::Now,
};

/// Buckets by key. One that is full again is forgotten; those who find no room share one.
#[derive(Debug)]
pub struct Buckets<K> {
    rate: Rate,
    table: Mutex<Table<K>>,
}

#[derive(Debug)]
struct Table<K> {
    paced: HashMap<K, PacedUntil>,
    /// Of all who found no room.
    others: PacedUntil,
    /// At this size full buckets are looked for.
    sweep_at: usize,
    /// Not before this time, when none were found the last time.
    sweep_from_ms: u64,
}

impl<K: Clone + Eq + Hash> Buckets<K> {
    /// Full buckets of this rate.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            table: Mutex::new(Table {
                paced: HashMap::new(),
                others: 0,
                sweep_at: MIN_SWEPT,
                sweep_from_ms: 0,
            }),
        }
    }

    /// What they hold.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes from the bucket of `key`.
    ///
    /// # Errors
    /// When it is empty: after how many milliseconds it is not.
    pub fn take(&self, key: &K, now: Now) -> Result<(), u64> {
        let mut table = self.lock();
        let paced = self.rate.once_more(table.find(key, now), now)?;
        table.keep(key, paced);
        Ok(())
    }

    /// Takes from the bucket of `key` what is due, empty as it may be: what was begun while there was something in it.
    pub fn charge(&self, key: &K, now: Now) {
        let mut table = self.lock();
        let paced = self.rate.owed(table.find(key, now), now);
        table.keep(key, paced);
    }

    /// Whether something could be taken, without doing so.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn check(&self, key: &K, now: Now) -> Result<(), u64> {
        let paced = self.lock().find(key, now);
        self.rate.once_more(paced, now).map(|_| ())
    }

    fn lock(&self) -> MutexGuard<'_, Table<K>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> Table<K> {
    /// What is kept of `key`, or of all who find no room.
    fn find(&mut self, key: &K, now: Now) -> PacedUntil {
        match self.paced.get(key).copied() {
            Some(paced) => paced,
            None if self.has_room(now) => 0,
            None => self.others,
        }
    }

    /// Keeps what [`find`](Self::find) found, once changed.
    fn keep(&mut self, key: &K, paced: PacedUntil) {
        if self.paced.contains_key(key) || self.paced.len() < self.sweep_at {
            self.paced.insert(key.clone(), paced);
        } else {
            self.others = paced;
        }
    }

    /// Looks for full buckets each time the table has doubled, and at its bound once a second.
    fn has_room(&mut self, now: Now) -> bool {
        if self.paced.len() < self.sweep_at {
            return true;
        }
        if now.monotonic_ms < self.sweep_from_ms {
            return false;
        }
        self.paced.retain(|_, paced| !Rate::is_settled(*paced, now));
        self.sweep_at = (2 * self.paced.len()).clamp(MIN_SWEPT, MAX_BUCKETS);
        self.sweep_from_ms = match self.paced.len() < self.sweep_at {
            true => 0,
            false => now.monotonic_ms + SWEEP_PAUSE_MS,
        };
        self.paced.len() < self.sweep_at
    }
}

/// The bound of a table.
const MAX_BUCKETS: usize = 65_536;

/// A smaller table is not worth a look.
const MIN_SWEPT: usize = 1_024;

const SWEEP_PAUSE_MS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate {
        count: 2,
        per_ms: 1_000,
    };

    fn at(monotonic_ms: u64) -> Now {
        Now {
            wall_ms: 0,
            monotonic_ms,
        }
    }

    #[test]
    fn each_key_has_its_own_and_looking_takes_nothing() {
        let buckets = Buckets::new(RATE);
        for _ in 0..3 {
            assert_eq!(buckets.check(&"a", at(0)), Ok(()));
        }
        assert_eq!(buckets.take(&"a", at(0)), Ok(()));
        assert_eq!(buckets.take(&"a", at(0)), Ok(()));
        assert_eq!(buckets.take(&"a", at(0)), Err(500));
        assert_eq!(buckets.check(&"a", at(499)), Err(1));
        assert_eq!(buckets.take(&"b", at(0)), Ok(()));
        assert_eq!(buckets.take(&"a", at(500)), Ok(()));
        assert_eq!(buckets.take(&"a", at(500)), Err(500));
    }

    #[test]
    fn what_is_owed_is_paid_for_up_to_a_bound() {
        let buckets = Buckets::new(RATE);
        for _ in 0..3 {
            buckets.charge(&"a", at(0));
        }
        assert_eq!(buckets.check(&"a", at(0)), Err(1_000));
        assert_eq!(buckets.check(&"a", at(1_000)), Ok(()));
        for _ in 0..1_000 {
            buckets.charge(&"b", at(0));
        }
        assert_eq!(buckets.check(&"b", at(0)), Err(1_500));
        assert_eq!(buckets.check(&"c", at(0)), Ok(()));
    }

    #[test]
    fn full_buckets_are_forgotten_as_the_table_grows() {
        let buckets = Buckets::new(RATE);
        for number in 0..1_000_000 {
            assert_eq!(buckets.take(&number, at(number)), Ok(()));
        }
        assert!(buckets.lock().paced.len() <= 2 * MIN_SWEPT);
    }

    #[test]
    fn the_table_has_a_bound_and_those_beyond_it_share_one_bucket() {
        let buckets = Buckets::new(RATE);
        for number in 0..MAX_BUCKETS {
            assert_eq!(buckets.take(&number, at(0)), Ok(()));
        }
        let beyond = MAX_BUCKETS..;
        let taken = beyond
            .take(1_000)
            .filter(|number| buckets.take(number, at(0)).is_ok());
        assert_eq!(taken.count(), 2);
        assert_eq!(buckets.check(&usize::MAX, at(0)), Err(500));
        assert_eq!(buckets.lock().paced.len(), MAX_BUCKETS);
        // Those who are known keep theirs.
        assert_eq!(buckets.take(&7, at(0)), Ok(()));
        assert_eq!(buckets.take(&7, at(0)), Err(500));
        assert_eq!(buckets.take(&usize::MAX, at(1_000)), Ok(()));
        assert!(buckets.lock().paced.len() < 3);
    }
}
