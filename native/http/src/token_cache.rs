//! What was found out about access tokens a moment ago.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use mcp_auth::TokenDigest;
use mcp_protocol::Now;

/// Spares verifying a signature, or asking an issuer, again. What is in here is between 30 and 60 seconds old at most.
///
/// There are two generations: a new entry goes into the younger one, which becomes the older one when it is full or
/// old, and the older one is then forgotten whole.
pub(crate) struct TokenCache<V>(Mutex<Generations<V>>);

struct Generations<V> {
    younger: HashMap<TokenDigest, V>,
    older: HashMap<TokenDigest, V>,
    /// When the younger one began, on the clock that never goes back.
    begun_ms: Option<u64>,
    /// How often everything was forgotten.
    clears: u64,
}

impl<V: Clone> TokenCache<V> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Generations::new(0)))
    }

    pub(crate) fn get(&self, token: &TokenDigest, now: Now) -> Option<V> {
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
    pub(crate) fn put(&self, token: TokenDigest, known: V, now: Now, clears: u64) {
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
            begun_ms: None,
            clears,
        }
    }

    fn age(&mut self, now: Now) {
        let begun_ms = *self.begun_ms.get_or_insert(now.monotonic_ms);
        let age_ms = now.monotonic_ms.saturating_sub(begun_ms);
        if age_ms >= GENERATION_MS {
            self.turn(now);
            // Nobody came for longer than a whole generation: both are too old.
            if age_ms >= 2 * GENERATION_MS {
                self.older.clear();
            }
        }
    }

    fn turn(&mut self, now: Now) {
        self.older = std::mem::take(&mut self.younger);
        self.begun_ms = Some(now.monotonic_ms);
    }
}

const GENERATION_MS: u64 = 30_000;

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

    fn after(seconds: u64) -> Now {
        Now {
            monotonic_ms: 7_000 + 1_000 * seconds,
            ..Now::default()
        }
    }

    #[test]
    fn nothing_is_known_for_longer_than_a_minute() {
        let cache = TokenCache::new();
        for age_s in [0, 29, 30, 45, 59] {
            cache.clear();
            cache.put(digest("a"), (), after(0), cache.clears());
            let is_known = cache.get(&digest("a"), after(age_s)).is_some();
            assert!(is_known, "after {age_s} s");
        }
        for age_s in [60, 61, 1_000] {
            cache.clear();
            cache.put(digest("a"), (), after(0), cache.clears());
            let known = cache.get(&digest("a"), after(age_s));
            assert!(known.is_none(), "after {age_s} s");
        }
    }

    #[test]
    fn others_are_forgotten_for_the_newest() {
        let (cache, now) = (TokenCache::new(), after(0));
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
        let (cache, now) = (TokenCache::new(), after(0));
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
