//! What was found out about access tokens a moment ago.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use mcp_auth::TokenDigest;

/// Spares verifying a signature, or asking an issuer, again. What is in here is between 30 and 60 seconds old at most.
///
/// There are two generations: a new entry goes into the younger one, which becomes the older one when it is full or
/// old, and the older one is then forgotten whole.
pub(crate) struct TokenCache<V>(Mutex<Generations<V>>);

struct Generations<V> {
    younger: HashMap<TokenDigest, V>,
    older: HashMap<TokenDigest, V>,
    /// When the younger one began.
    begun: Option<Instant>,
    /// How often everything was forgotten.
    clears: u64,
}

impl<V: Clone> TokenCache<V> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Generations::new(0)))
    }

    pub(crate) fn get(&self, token: &TokenDigest, now: Instant) -> Option<V> {
        let mut generations = self.lock();
        generations.age(now);
        let Generations { younger, older, .. } = &*generations;
        younger.get(token).or_else(|| older.get(token)).cloned()
    }

    /// How often [`TokenCache::clear`] was called.
    pub(crate) fn clears(&self) -> u64 {
        self.lock().clears
    }

    /// Keeps what was found out after so many `clears`, unless everything was forgotten since.
    pub(crate) fn put(&self, token: TokenDigest, known: V, now: Instant, clears: u64) {
        let mut generations = self.lock();
        if generations.clears != clears {
            return;
        }
        generations.age(now);
        if generations.younger.len() >= MAX_GENERATION {
            generations.turn(now);
        }
        generations.younger.insert(token, known);
    }

    /// Forgets everything: the keys changed.
    pub(crate) fn clear(&self) {
        let mut generations = self.lock();
        *generations = Generations::new(generations.clears + 1);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Generations<V> {
    fn new(clears: u64) -> Self {
        Self {
            younger: HashMap::new(),
            older: HashMap::new(),
            begun: None,
            clears,
        }
    }

    fn age(&mut self, now: Instant) {
        let begun = *self.begun.get_or_insert(now);
        if now - begun >= GENERATION {
            self.turn(now);
            // Nobody came for longer than a whole generation: both are too old.
            if now - begun >= 2 * GENERATION {
                self.older.clear();
            }
        }
    }

    fn turn(&mut self, now: Instant) {
        self.older = std::mem::take(&mut self.younger);
        self.begun = Some(now);
    }
}

const GENERATION: Duration = Duration::from_secs(30);

/// Half of the tokens that are known at a time; an entry takes about as much memory as its token.
const MAX_GENERATION: usize = 5_000;

#[cfg(test)]
mod tests {
    use mcp_auth::{Config, Credentials, Head, Issuer, Settings};

    use super::*;

    fn digest(token: &str) -> TokenDigest {
        let value = format!("Bearer {token}");
        let head = Head {
            method: "POST",
            target: "/mcp",
            authorization: vec![value.as_bytes()],
            dpop: Vec::new(),
            certificate: None,
        };
        let issuers = vec![Issuer::new("https://a.example")];
        let config = Config::new(Settings::new("https://b.example/mcp", issuers)).unwrap();
        Credentials::read(&head, &config).unwrap().digest()
    }

    #[test]
    fn nothing_is_known_for_longer_than_a_minute() {
        let (cache, start) = (TokenCache::new(), Instant::now());
        for age_s in [0, 29, 30, 45, 59] {
            let (put, at) = (start, start + Duration::from_secs(age_s));
            cache.clear();
            cache.put(digest("a"), (), put, cache.clears());
            let is_known = cache.get(&digest("a"), at).is_some();
            assert!(is_known, "after {age_s} s");
        }
        for age_s in [60, 61, 1_000] {
            cache.clear();
            cache.put(digest("a"), (), start, cache.clears());
            let at = start + Duration::from_secs(age_s);
            assert!(cache.get(&digest("a"), at).is_none(), "after {age_s} s");
        }
    }

    #[test]
    fn others_are_forgotten_for_the_newest() {
        let (cache, now) = (TokenCache::new(), Instant::now());
        for number in 0..=2 * MAX_GENERATION {
            cache.put(digest(&number.to_string()), (), now, 0);
        }
        assert!(cache.get(&digest("0"), now).is_none());
        let newest = (2 * MAX_GENERATION).to_string();
        assert!(cache.get(&digest(&newest), now).is_some());
        assert!(cache.get(&digest("b"), now).is_none());
    }

    #[test]
    fn newer_keys_forget_everything() {
        let (cache, now) = (TokenCache::new(), Instant::now());
        cache.put(digest("a"), (), now, 0);
        cache.clear();
        assert!(cache.get(&digest("a"), now).is_none());
        cache.put(digest("a"), (), now, 0);
        let is_known = cache.get(&digest("a"), now).is_some();
        assert!(!is_known, "it was found out under the keys before");
        cache.put(digest("a"), (), now, cache.clears());
        assert!(cache.get(&digest("a"), now).is_some());
    }
}
