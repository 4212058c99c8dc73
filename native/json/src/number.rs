//! Numbers, as exact as their text.

use std::ops::Range;

use crate::{Error, ErrorKind, Limits};

/// A number as exact as its text.
///
/// Without fraction and exponent it is an integer, so `1.0` and `1e2` are floats and `-0` is the
/// integer 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number<'a> {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// The decimal text of an integer that does not.
    Big(&'a str),
    /// The nearest 64-bit float, always finite.
    Float(f64),
}

impl<'a> Number<'a> {
    #[inline]
    pub(crate) fn read(raw: &'a str, float: bool) -> Self {
        if float {
            return Self::Float(raw.parse().expect("a JSON number is a Rust float"));
        }
        raw.parse().map_or(Self::Big(raw), Self::Integer)
    }
}

/// Reads the number that starts at `start`: the offset behind it, and whether it is a float.
#[inline]
pub(crate) fn scan(text: &str, start: usize, limits: &Limits) -> Result<(usize, bool), Error> {
    let bytes = text.as_bytes();
    let whole = start + usize::from(bytes[start] == b'-');
    let point = digits(bytes, whole)?;
    if bytes[whole] == b'0' && point > whole + 1 {
        return Err(Error::expected("no digit after a leading zero", whole + 1));
    }
    if let Some(b'.' | b'e' | b'E') = bytes.get(point) {
        let end = scan_float(text, start, whole..point, limits)?;
        return Ok((end, true));
    }
    check_digits(point - whole, start, limits)?;
    Ok((point, false))
}

/// Reads the fraction and the exponent behind the whole digits of a float: the offset behind them.
fn scan_float(
    text: &str,
    start: usize,
    whole: Range<usize>,
    limits: &Limits,
) -> Result<usize, Error> {
    let bytes = text.as_bytes();
    let mut end = whole.end;
    let mut count = whole.len();
    if bytes[end] == b'.' {
        let fraction = end + 1;
        end = digits(bytes, fraction)?;
        count += end - fraction;
    }
    let has_exponent = matches!(bytes.get(end), Some(b'e' | b'E'));
    if has_exponent {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(bytes, exponent)?;
        count += end - exponent;
    }
    check_digits(count, start, limits)?;
    if has_exponent || whole.len() > MAX_FINITE_DIGITS {
        check_finite(&text[start..end], start)?;
    }
    Ok(end)
}

/// The offset behind the digits at `start`, of which there must be one.
fn digits(bytes: &[u8], start: usize) -> Result<usize, Error> {
    let mut end = start;
    while bytes.get(end).is_some_and(u8::is_ascii_digit) {
        end += 1;
    }
    if end == start {
        Err(Error::expected("a digit", start))
    } else {
        Ok(end)
    }
}

fn check_digits(got: usize, start: usize, limits: &Limits) -> Result<(), Error> {
    let limit = limits.max_number_digits;
    if got <= limit {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NumberTooLong { limit, got }, start))
}

fn check_finite(raw: &str, start: usize) -> Result<(), Error> {
    let float: f64 = raw.parse().expect("a JSON number is a Rust float");
    if float.is_finite() {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::NumberNotFinite, start))
    }
}

/// Digits before the point up to which a number without exponent is a finite float for certain.
const MAX_FINITE_DIGITS: usize = 308;
