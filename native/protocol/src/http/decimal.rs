//! Decimal numbers compared by value, exactly and at any length.

/// A number written `-?digits[.digits]`: no exponent, no plus sign, no other base.
///
/// Equal values are `==` whatever zeros they are written with: `42`, `042` and `42.0`; `0` and `-0`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Decimal<'a> {
    is_negative: bool,
    /// Digits before the point, from the first that is not zero.
    whole: &'a str,
    /// Digits after the point, to the last that is not zero.
    fraction: &'a str,
}

impl<'a> Decimal<'a> {
    /// Reads a number; `None` for any other text.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (
            whole.trim_start_matches('0'),
            fraction.trim_end_matches('0'),
        );
        let is_zero = whole.is_empty() && fraction.is_empty();
        Some(Self {
            is_negative: unsigned.len() < text.len() && !is_zero,
            whole,
            fraction,
        })
    }

    /// Whether this is an integer within ±(2^53 - 1), which every JSON reader keeps exactly.
    pub(super) fn is_safe_integer(&self) -> bool {
        let is_small = self.whole.is_empty()
            || self
                .whole
                .parse()
                .is_ok_and(|whole: u64| whole <= MAX_SAFE_INTEGER);
        self.fraction.is_empty() && is_small
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_values() {
        let equal = |this, that| Decimal::parse(this).unwrap() == Decimal::parse(that).unwrap();
        assert!(
            equal("42", "42.0")
                && equal("042", "42")
                && equal("-0", "0.00")
                && equal("1.50", "1.5")
        );
        assert!(!equal("42", "-42") && !equal("42", "42.01") && !equal("0.1", "1"));
        assert!(!equal("9007199254740993", "9007199254740992"));
    }

    #[test]
    fn reads_one_grammar() {
        for bad in [
            "", "-", "+1", "1e2", "0x1", "1.", ".5", "1.2.3", "--1", " 1", "1_000", "NaN", "٣",
            "1,0",
        ] {
            assert_eq!(Decimal::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn knows_what_every_reader_keeps() {
        let safe = |text| Decimal::parse(text).unwrap().is_safe_integer();
        assert!(
            safe("0") && safe("-0.0") && safe("9007199254740991") && safe("-9007199254740991.0")
        );
        assert!(!safe("9007199254740992") && !safe("0.5") && !safe(&"9".repeat(400)));
    }
}
