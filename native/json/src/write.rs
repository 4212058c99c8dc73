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
