//! Numbers of claims as seconds.

use mcp_json::{Node, Number};

/// A `NumericDate` (RFC 7519 §2): any JSON number of seconds from 0 to 2^53; nothing else stands for one.
pub(crate) fn seconds(node: Node<'_>) -> Option<f64> {
    finite(node).filter(|seconds| (0.0..=MAX).contains(seconds))
}

/// Any JSON number that a 64-bit float can hold.
pub(crate) fn finite(node: Node<'_>) -> Option<f64> {
    let value = match node.number()? {
        Number::Integer(integer) => integer as f64,
        Number::Float(float) => float,
        Number::Big(text) => text.parse().ok()?,
    };
    value.is_finite().then_some(value)
}

/// 2^53: from here on not every integer is a float.
const MAX: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use mcp_json::{Document, Limits};

    use super::*;

    fn read(text: &str) -> Option<f64> {
        let document = Document::parse(text.to_owned().into(), &Limits::default()).unwrap();
        seconds(document.root())
    }

    #[test]
    fn only_numbers_in_range_are_times() {
        assert_eq!(read("1800000000"), Some(1_800_000_000.0));
        assert_eq!(read("1.5e0"), Some(1.5));
        assert_eq!(read("9007199254740992"), Some(MAX));
        for other in ["-1", "9007199254740994", "true", "null", "\"1\"", "[1]"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read("123456789012345678901234567890"), None);
    }
}
