//! Bounds of a text.

/// What a text may cost before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of arrays and objects inside one another (default 64). The bracket that opens one level
    /// more is refused where it stands, so a text of nothing but brackets costs this many steps.
    pub max_depth: usize,
    /// Digits of one number, fraction and exponent included (default 4,096). Turning digits into a big
    /// integer takes quadratic time, one million of them about a second.
    pub max_number_digits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_depth: 64,
            max_number_digits: 4096,
        }
    }
}
