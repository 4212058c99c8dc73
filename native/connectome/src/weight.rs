//! Measurements on edges; no digest covers them.

use std::fmt::Write;

/// A number that is not negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Weight {
    /// An integer.
    Integer(u64),
    /// The decimal text of a larger one.
    Big(Box<str>),
    /// A finite float; −0.0 is one.
    Float(f64),
}

impl Weight {
    /// The number as the sidecar has it: integers in full, floats in the shortest form that reads back, with the
    /// point where Erlang puts it.
    pub fn text(&self) -> String {
        match self {
            Self::Integer(integer) => integer.to_string(),
            Self::Big(digits) => digits.to_string(),
            Self::Float(float) => float_text(*float),
        }
    }
}

fn float_text(float: f64) -> String {
    if float == 0.0 {
        return if float.is_sign_negative() {
            "-0.0"
        } else {
            "0.0"
        }
        .into();
    }
    let Decimal { digits, exponent } = Decimal::of(float.abs());
    let sign = if float < 0.0 { "-" } else { "" };
    let length = digits.len() as i32;
    if is_plain(&digits, exponent) {
        return format!("{sign}{}", plain(&digits, length + exponent));
    }
    let (first, rest) = digits.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{sign}{first}.{rest}e{}", exponent + length - 1)
}

/// The shortest digits D that read back, without trailing zeros, and the e of D·10^e.
struct Decimal {
    digits: String,
    exponent: i32,
}

impl Decimal {
    fn of(float: f64) -> Self {
        let scientific = format!("{float:e}");
        let (mantissa, exponent) = scientific
            .split_once('e')
            .expect("the form has an exponent");
        let exponent: i32 = exponent.parse().expect("the exponent is an integer");
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Self {
            digits: format!("{whole}{fraction}"),
            exponent: exponent - fraction.len() as i32,
        }
    }
}

/// Whether Erlang writes the number without exponent: where that is not longer, and no integer that a float
/// cannot count to is written out.
fn is_plain(digits: &str, exponent: i32) -> bool {
    let length = digits.len() as i32;
    let short = match length {
        1 => (-4..=2).contains(&exponent),
        _ => (-(length + 2)..=1).contains(&exponent) || exponent == 2 && length + 1 >= 10,
    };
    let number: u64 = digits.parse().expect("a float has at most 17 digits");
    let beyond = match exponent {
        0 => number >= 1 << 53,
        1 => number > (1 << 52) / 5,
        2 => number > (1 << 51) / 25,
        _ => false,
    };
    short && !beyond
}

/// Digits with the point behind the first `point` of them.
fn plain(digits: &str, point: i32) -> String {
    let mut text = String::new();
    if point <= 0 {
        let zeros = "0".repeat(point.unsigned_abs() as usize);
        return format!("0.{zeros}{digits}");
    }
    let point = point as usize;
    if point >= digits.len() {
        let _ = write!(text, "{digits}{}.0", "0".repeat(point - digits.len()));
    } else {
        let _ = write!(text, "{}.{}", &digits[..point], &digits[point..]);
    }
    text
}
