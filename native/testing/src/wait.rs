//! Waiting for what happens on other threads.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Waits until `condition` holds.
///
/// # Panics
/// When it does not within five seconds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
