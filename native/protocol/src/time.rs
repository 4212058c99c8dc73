//! Time as a value: the core reads no clock.

/// One reading of both clocks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Now {
    /// Milliseconds since the Unix epoch.
    pub wall_ms: u64,
    /// Milliseconds on a clock that never goes back.
    pub monotonic_ms: u64,
}
