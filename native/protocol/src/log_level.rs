//! How severe a log message is (MCP server/utilities/logging, RFC 5424 §6.2.1).

/// A level; the order is that of severity.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum LogLevel {
    /// For debugging.
    Debug,
    /// What goes on.
    Info,
    /// What is normal and worth noticing.
    Notice,
    /// What may become an error.
    Warning,
    /// What failed.
    Error,
    /// What failed and matters to the whole.
    Critical,
    /// What has to be seen to at once.
    Alert,
    /// What leaves the system unusable.
    Emergency,
}

const LEVELS: [(LogLevel, &str); 8] = [
    (LogLevel::Debug, "debug"),
    (LogLevel::Info, "info"),
    (LogLevel::Notice, "notice"),
    (LogLevel::Warning, "warning"),
    (LogLevel::Error, "error"),
    (LogLevel::Critical, "critical"),
    (LogLevel::Alert, "alert"),
    (LogLevel::Emergency, "emergency"),
];

impl LogLevel {
    /// Finds a level by its name.
    pub fn parse(name: &str) -> Option<Self> {
        let named = LEVELS.iter().find(|(_, known)| *known == name);
        named.map(|(level, _)| *level)
    }

    /// The level's name.
    pub fn as_str(self) -> &'static str {
        LEVELS[self as usize].1
    }

    /// All names, for a refusal.
    pub(crate) fn names() -> String {
        LEVELS.map(|(_, name)| name).join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_severity() {
        for (position, (level, name)) in LEVELS.into_iter().enumerate() {
            assert_eq!(level as usize, position);
            assert_eq!((level.as_str(), LogLevel::parse(name)), (name, Some(level)));
        }
        assert!(LogLevel::Debug < LogLevel::Emergency);
        assert_eq!(LogLevel::parse("Error"), None);
    }
}
