//! The words of the graph: one table for each, in the order of their bytes.

/// Which schema a graph follows.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Version {
    /// The neutral sign is `unknown`; SHA-256 is implied.
    V1,
    /// The neutral sign is `unset`, and `ungoverned` is another; SHA-256 is implied.
    V2,
    /// As 2, and the bytes name their digest.
    V3,
}

impl Version {
    /// The version of a number.
    pub fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            3 => Some(Self::V3),
            _ => None,
        }
    }

    /// The number in the bytes.
    pub const fn number(self) -> i64 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }

    /// Whether the bytes name their digest.
    pub fn names_algorithm(self) -> bool {
        self >= Self::V3
    }

    /// The sign where nothing was supplied.
    pub fn neutral(self) -> Sign {
        if self == Self::V1 {
            Sign::Unknown
        } else {
            Sign::Unset
        }
    }

    /// The sign of a word, if this version has it.
    pub fn sign(self, word: &str) -> Option<Sign> {
        Sign::from_name(word).filter(|sign| self.has(*sign))
    }

    /// A sign of another version in this one. The neutral one of a later version becomes that of version 1; what
    /// version 1 left open is not narrowed.
    pub fn adopt(self, sign: Sign) -> Option<Sign> {
        match sign {
            Sign::Unset if self == Self::V1 => Some(Sign::Unknown),
            sign => self.has(sign).then_some(sign),
        }
    }

    /// Whether this version has the sign.
    pub fn has(self, sign: Sign) -> bool {
        match sign {
            Sign::Unknown => self == Self::V1,
            Sign::Ungoverned | Sign::Unset => self > Self::V1,
            _ => true,
        }
    }
}

/// An enumeration whose variants have a word each.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of their words.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// What stands for the word.
            pub fn from_name(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == word)
            }

            /// The word.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

words! {
    /// What a node stands for.
    NodeKind {
        /// A module, a function or a group of modules.
        Module = "module",
        /// A process.
        Process = "process",
        /// A prompt.
        Prompt = "prompt",
        /// A resource.
        Resource = "resource",
        /// A server.
        Server = "server",
        /// A tool.
        Tool = "tool",
    }
}

words! {
    /// How finely a part was looked at.
    Level {
        /// A group of modules.
        Boundary = "boundary",
        /// A function.
        Mfa = "mfa",
        /// A module.
        Module = "module",
        /// A server and what it offers.
        Server = "server",
    }
}

words! {
    /// How one node talks to another.
    EdgeKind {
        /// A call.
        Invoke = "invoke",
        /// A message.
        Message = "message",
        /// The reading of a resource or prompt.
        Read = "read",
        /// The supervision of a process.
        Supervise = "supervise",
    }
}

words! {
    /// Whether an edge can happen or did.
    Provenance {
        /// It can.
        Declared = "declared",
        /// It did.
        Observed = "observed",
    }
}

words! {
    /// What a policy of the host's says about an edge.
    Sign {
        /// It permits.
        Allow = "allow",
        /// It forbids.
        Deny = "deny",
        /// It waits for a decision made elsewhere.
        Hold = "hold",
        /// Somebody looked, and no rule applies. Not in version 1.
        Ungoverned = "ungoverned",
        /// Nothing was supplied, or nothing governs it: version 1 does not say which.
        Unknown = "unknown",
        /// Nothing was supplied. Not in version 1.
        Unset = "unset",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_in_order_and_are_read_back() {
        fn check<T: Copy + PartialEq + std::fmt::Debug>(
            all: &[T],
            name: fn(T) -> &'static str,
            from: fn(&str) -> Option<T>,
        ) {
            let words: Vec<_> = all.iter().map(|one| name(*one)).collect();
            assert!(words.is_sorted(), "{words:?}");
            for one in all {
                assert_eq!(from(name(*one)), Some(*one));
            }
            assert_eq!(from("gadget"), None);
        }
        check(NodeKind::ALL, NodeKind::name, NodeKind::from_name);
        check(Level::ALL, Level::name, Level::from_name);
        check(EdgeKind::ALL, EdgeKind::name, EdgeKind::from_name);
        check(Provenance::ALL, Provenance::name, Provenance::from_name);
        check(Sign::ALL, Sign::name, Sign::from_name);
    }

    #[test]
    fn versions_have_their_own_signs() {
        assert_eq!(Version::V1.sign("unknown"), Some(Sign::Unknown));
        assert_eq!(Version::V1.sign("ungoverned"), None);
        assert_eq!(Version::V3.sign("unknown"), None);
        assert_eq!(Version::V2.sign("ungoverned"), Some(Sign::Ungoverned));
    }

    #[test]
    fn a_neutral_sign_widens_and_never_narrows() {
        assert_eq!(Version::V1.adopt(Sign::Unset), Some(Sign::Unknown));
        assert_eq!(Version::V1.adopt(Sign::Ungoverned), None);
        assert_eq!(Version::V3.adopt(Sign::Unknown), None);
        assert_eq!(Version::V2.adopt(Sign::Hold), Some(Sign::Hold));
    }
}
