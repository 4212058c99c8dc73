//! Strings: where one ends, and what its escapes stand for.

use memchr::memchr;

use crate::{Error, ErrorKind};

/// Reads the string whose opening quotation mark is at `open`: the offset behind the closing one, and
/// whether there are escapes in between.
#[inline]
pub(crate) fn scan(bytes: &[u8], open: usize) -> Result<(usize, bool), Error> {
    let at = open + 1 + plain_run(&bytes[open + 1..]);
    match bytes.get(at) {
        Some(b'"') => Ok((at + 1, false)),
        _ => Ok((scan_escaped(bytes, at)?, true)),
    }
}

/// Reads on from the first byte that does not stand for itself: the offset behind the closing quotation mark.
fn scan_escaped(bytes: &[u8], mut at: usize) -> Result<usize, Error> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => (_, at) = escape(bytes, at)?,
            Some(_) => {
                return Err(Error::expected(
                    "control characters of a string escaped",
                    at,
                ));
            }
            None => return Err(Error::expected("the end of a string", at)),
        }
        at += plain_run(&bytes[at..]);
    }
}

/// The text that the inside of a scanned string stands for.
pub(crate) fn decode(inner: &str) -> String {
    let bytes = inner.as_bytes();
    let mut text = String::with_capacity(inner.len());
    let mut at = 0;
    while let Some(run) = memchr(b'\\', &bytes[at..]) {
        text.push_str(&inner[at..at + run]);
        let (char, end) =
            escape(bytes, at + run).expect("escapes were checked when the string was read");
        text.push(char);
        at = end;
    }
    text.push_str(&inner[at..]);
    text
}

/// The number of leading bytes that a JSON string holds as they are: neither quotation mark nor
/// backslash nor control character (RFC 8259 section 7).
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let marks = special_bytes(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += size_of::<u64>();
    }
    let rest = &bytes[at..];
    let special = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | ..b' '));
    at + special.unwrap_or(rest.len())
}

/// Sets the high bit of the lowest byte that may not stand in a string as it is; bits above are noise.
///
/// A subtraction borrows from the next byte only where the byte below was a match already.
const fn special_bytes(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * b' ' as u64);
    (control | quote.wrapping_sub(ONES) | backslash.wrapping_sub(ONES)) & !word & (ONES << 7)
}

/// Reads the escape whose backslash is at `at`: its character, and the offset behind it.
fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), Error> {
    let char = match bytes.get(at + 1) {
        Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at),
        _ => {
            return Err(Error::expected(
                "one of \"\\/bfnrtu after a backslash",
                at + 1,
            ));
        }
    };
    Ok((char, at + 2))
}

/// Reads `\uXXXX`, or two of them if the first is the high half of a surrogate pair.
fn unicode_escape(bytes: &[u8], at: usize) -> Result<(char, usize), Error> {
    let lone = || Error::new(ErrorKind::LoneSurrogate, at);
    let first = code_unit(bytes, at + 2)?;
    if let Some(char) = char::from_u32(first) {
        return Ok((char, at + 6));
    }
    if first >= LOW_SURROGATES {
        return Err(lone());
    }
    for (offset, needed) in (at + 6..).zip(*b"\\u") {
        match bytes.get(offset) {
            Some(byte) if *byte == needed => {}
            Some(_) => return Err(lone()),
            None => {
                return Err(Error::expected(
                    "the other half of a surrogate pair",
                    offset,
                ));
            }
        }
    }
    let second = code_unit(bytes, at + 8)?;
    if !(LOW_SURROGATES..LOW_SURROGATES + 0x400).contains(&second) {
        return Err(lone());
    }
    let char =
        char::from_u32(0x1_0000 + ((first - HIGH_SURROGATES) << 10) + (second - LOW_SURROGATES));
    Ok((char.expect("a surrogate pair names a character"), at + 12))
}

/// Reads four hexadecimal digits.
fn code_unit(bytes: &[u8], start: usize) -> Result<u32, Error> {
    (start..start + 4).try_fold(0, |unit, at| {
        let digit = bytes
            .get(at)
            .and_then(|byte| char::from(*byte).to_digit(16));
        let digit = digit.ok_or_else(|| Error::expected("a hexadecimal digit", at))?;
        Ok(unit << 4 | digit)
    })
}

/// A one in each byte of a word.
const ONES: u64 = u64::from_le_bytes([1; 8]);

/// The first code unit of each half of a surrogate pair (RFC 8259 section 7).
const HIGH_SURROGATES: u32 = 0xD800;
const LOW_SURROGATES: u32 = 0xDC00;
