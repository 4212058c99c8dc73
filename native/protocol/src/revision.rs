//! Dated protocol versions and the two eras they belong to.

use std::fmt;

/// One dated protocol version that this server speaks (MCP `learn/versioning`: versions compare as strings).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Revision {
    /// `2025-06-18`, legacy.
    R20250618,
    /// `2025-11-25`, legacy; the one offered when a client asks for something else.
    R20251125,
    /// `2026-07-28`, modern.
    R20260728,
}

/// How a message states its version (MCP 2026-07-28 basic/versioning).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Era {
    /// An `initialize` handshake fixes the version for a session.
    Legacy,
    /// Every request carries its version in `_meta`.
    Modern,
}

impl Revision {
    /// Every served revision, newest first: the order of `supportedVersions`.
    pub const ALL: [Self; 3] = [Self::R20260728, Self::R20251125, Self::R20250618];

    /// The newest revision that `initialize` may settle on.
    pub const NEWEST_LEGACY: Self = Self::R20251125;

    /// Reads a wire version; `None` for one that is not served.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
    }

    /// The wire text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::R20250618 => "2025-06-18",
            Self::R20251125 => "2025-11-25",
            Self::R20260728 => "2026-07-28",
        }
    }

    /// The era this revision belongs to.
    pub const fn era(self) -> Era {
        match self {
            Self::R20250618 | Self::R20251125 => Era::Legacy,
            Self::R20260728 => Era::Modern,
        }
    }

    /// Position in per-revision tables, oldest first.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_writes() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        }
        assert_eq!(Revision::parse("2024-11-05"), None);
        assert_eq!(Revision::parse("2026-07-28 "), None);
    }
}
