//! Sets of ASCII characters.

/// A set of ASCII characters, one bit each; no byte beyond ASCII is ever in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ByteSet(u128);

impl ByteSet {
    pub(crate) const fn of(bytes: &[u8]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < bytes.len() {
            bits |= bit(bytes[at]);
            at += 1;
        }
        Self(bits)
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, byte: u8) -> Self {
        Self(self.0 & !bit(byte))
    }

    pub(crate) const fn contains(self, byte: u8) -> bool {
        self.0 & bit(byte) != 0
    }

    pub(crate) fn contains_all(self, text: &str) -> bool {
        text.bytes().all(|byte| self.contains(byte))
    }
}

const fn bit(byte: u8) -> u128 {
    if byte.is_ascii() { 1 << byte } else { 0 }
}

/// What an expansion leaves as it is, and the percent sign of what it encodes (RFC 6570 section 1.5).
pub(crate) const UNRESERVED: ByteSet =
    ByteSet::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%");

/// What `{+a}` and `{#a}` leave as it is besides.
pub(crate) const RESERVED: ByteSet = ByteSet::of(b":/?#[]@!$&'()*+,;=");

/// Reserved characters that many clients leave unencoded in a path segment (RFC 3986 section 3.3).
pub(crate) const SEGMENT_EXTRAS: ByteSet = ByteSet::of(b":@!$&'()*+,;=");

/// The same for a query (RFC 3986 section 3.4).
pub(crate) const QUERY_EXTRAS: ByteSet = SEGMENT_EXTRAS.union(ByteSet::of(b"/?"));

#[cfg(test)]
mod tests {
    use super::{ByteSet, RESERVED, UNRESERVED};

    #[test]
    fn bytes_beyond_ascii_are_in_no_set() {
        let all = ByteSet(u128::MAX);
        assert!((0..128).all(|byte| all.contains(byte)));
        assert!((128..=255).all(|byte| !all.contains(byte)));
        assert_eq!(all.without(200), all);
    }

    #[test]
    fn reserved_and_unreserved_are_apart() {
        assert!((0..128).all(|byte| !(RESERVED.contains(byte) && UNRESERVED.contains(byte))));
        assert!(!UNRESERVED.without(b'.').contains_all("a.b"));
        assert!(UNRESERVED.union(RESERVED).contains_all("a/b?c#d%20"));
    }
}
