//! Values to JSON text, appended to a buffer.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use crate::string::plain_run;

/// Appends a string, in quotation marks, with only those characters escaped that must be (RFC 8259
/// section 7). The text has no line break, so it can stand in a stdio line or an event.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (run, special) = rest.split_at(plain_run(rest));
        out.extend_from_slice(run);
        let Some((byte, after)) = special.split_first() else {
            break;
        };
        escape(out, *byte);
        rest = after;
    }
    out.push(b'"');
}

/// Appends an integer.
pub fn integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends the shortest text that reads back as the same float; it has a fraction or an exponent, so
/// that it reads back as a float.
///
/// # Errors
///
/// JSON has no text for infinities and NaN; nothing is appended.
pub fn float(out: &mut Vec<u8>, value: f64) -> Result<(), NotFinite> {
    if !value.is_finite() {
        return Err(NotFinite);
    }
    out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    Ok(())
}

/// A float that JSON cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

impl Display for NotFinite {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("JSON has no number for an infinite or undefined float")
    }
}

impl Error for NotFinite {}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xF)]];
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&digits);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

const HEX: [u8; 16] = *b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_be_is_escaped() {
        let written = |text: &str| {
            let mut out = b"<".to_vec();
            string(&mut out, text);
            String::from_utf8(out).expect("UTF-8")
        };
        assert_eq!(written(""), r#"<"""#);
        assert_eq!(
            written("a long run without a mark"),
            r#"<"a long run without a mark""#
        );
        assert_eq!(written("+/8="), r#"<"+/8=""#);
        assert_eq!(
            written("\"\\\n\r\t\u{8}\u{c}\0\u{1f}"),
            r#"<"\"\\\n\r\t\b\f\u0000\u001f""#
        );
        assert_eq!(
            written("grün \u{7f}\u{2028}😀"),
            "<\"grün \u{7f}\u{2028}😀\""
        );
    }

    #[test]
    fn numbers_keep_their_type() {
        let mut out = Vec::new();
        for value in [0, -7, i64::MIN, i64::MAX] {
            integer(&mut out, value);
            out.push(b' ');
        }
        for value in [1.0, -0.0, 0.1, 1e21, 5e-324, f64::MAX] {
            float(&mut out, value).expect("finite");
            out.push(b' ');
        }
        let expected = "0 -7 -9223372036854775808 9223372036854775807 \
                        1.0 -0.0 0.1 1e+21 5e-324 1.7976931348623157e+308 ";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
    }

    #[test]
    fn floats_without_a_number_are_refused() {
        let mut out = Vec::new();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(float(&mut out, value), Err(NotFinite));
        }
        assert!(out.is_empty());
    }
}
