//! How much one NIF call may do.

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
