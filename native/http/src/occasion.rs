//! What is worth saying once in a while.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// When each of a few things was last said.
#[derive(Debug, Default)]
pub(crate) struct Occasions(Mutex<HashMap<&'static str, Instant>>);

impl Occasions {
    /// Whether `what` is to be said now: the first time, and again after a minute.
    pub(crate) fn take(&self, what: &'static str) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let is_due = said.get(what).is_none_or(|last| now - *last >= PAUSE);
        if is_due {
            said.insert(what, now);
        }
        is_due
    }
}

const PAUSE: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_once_for_each_thing() {
        let occasions = Occasions::default();
        assert!(occasions.take("a") && occasions.take("b"));
        assert!(!occasions.take("a") && !occasions.take("b"));
        *occasions.0.lock().unwrap().get_mut("a").unwrap() -= PAUSE;
        assert!(occasions.take("a"));
    }
}
