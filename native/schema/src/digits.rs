//! A number of an instance as its text: what most schemas want to know of one shows without reading it.

use std::borrow::Cow;

use jsonschema::json::JsonNumber;
use serde_json::Number;

/// The JSON text of a number.
#[derive(Clone, Copy)]
pub(crate) struct Digits<'a>(pub(crate) &'a str);

impl Digits<'_> {
    fn number(self) -> Number {
        self.0.parse().expect("the grammar was checked")
    }
}

/// All of it as [`Number`] has it.
impl JsonNumber for Digits<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    fn as_f64(&self) -> Option<f64> {
        self.number().as_f64()
    }

    fn as_str(&self) -> Cow<'_, str> {
        match self.is_written_as_integer() {
            true => Cow::Borrowed(self.0),
            false => Cow::Owned(self.number().as_str().to_owned()),
        }
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(self.number())
    }

    fn is_integer(&self) -> bool {
        self.is_written_as_integer() || JsonNumber::is_integer(&self.number())
    }

    fn is_written_as_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_a_number_says() {
        for text in [
            "0",
            "-0",
            "7",
            "-7",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "0.0",
            "-0.0",
            "1.0",
            "1.5",
            "1e2",
            "1E2",
            "1E+2",
            "15e-1",
            "150e-1",
            "1.5e1",
            "1e400",
            "1e-400",
        ] {
            let (digits, number): (_, Number) = (Digits(text), text.parse().unwrap());
            assert_eq!(digits.as_u64(), number.as_u64(), "{text}");
            assert_eq!(digits.as_i64(), number.as_i64(), "{text}");
            assert_eq!(digits.as_f64(), number.as_f64(), "{text}");
            assert_eq!(digits.as_str(), JsonNumber::as_str(&number), "{text}");
            assert_eq!(*digits.to_number(), number, "{text}");
            let integer = JsonNumber::is_integer(&number);
            assert_eq!(digits.is_integer(), integer, "{text}");
            let written = JsonNumber::is_written_as_integer(&number);
            assert_eq!(digits.is_written_as_integer(), written, "{text}");
        }
    }
}
