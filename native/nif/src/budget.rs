//! How much one NIF call may do.

use rustler::{Env, schedule::consume_timeslice};

/// Values that a function on a normal scheduler visits; more is work for a dirty one.
pub(crate) const MAX_TERMS: usize = 2_000;

/// Bytes that a function on a normal scheduler moves.
pub(crate) const MAX_BYTES: usize = 64 * 1024;

/// Where a function runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scheduler {
    /// One that must be free again within a millisecond.
    Normal,
    /// One for long work.
    Dirty,
}

impl Scheduler {
    /// Whether work of this size has to go to a dirty scheduler first.
    pub(crate) fn refuses(self, terms: usize, bytes: usize) -> bool {
        self == Self::Normal && (terms > MAX_TERMS || bytes > MAX_BYTES)
    }
}

/// Takes what a function on a normal scheduler did from its process's turn: a process that calls it in a loop gives way
/// to others as often as one that does the work itself. `bytes` were moved.
pub(crate) fn charge(env: Env<'_>, bytes: usize) {
    let percent = i32::try_from(1 + bytes / BYTES_A_PERCENT).unwrap_or(100);
    consume_timeslice(env, percent.min(100));
}

/// Bytes moved in a hundredth of a turn, which is about ten microseconds.
const BYTES_A_PERCENT: usize = 8 * 1024;
