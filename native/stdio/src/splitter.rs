//! Bytes into lines, within a bound.

use bytes::{Buf, Bytes};
use mcp_protocol::Line;

/// Splits a stream into lines.
///
/// A byte order mark at the start of the stream is skipped, `\r\n` ends a line as `\n` does, empty lines are left out.
/// Holds at most one line of `max_line_bytes` and the chunk last pushed.
pub(crate) struct Splitter {
    max_line_bytes: usize,
    /// Received and not looked at.
    chunk: Bytes,
    /// The start of a line whose end has not come.
    partial: Vec<u8>,
    /// The rest of an over-long line is being skipped.
    skipping: bool,
    /// No line has been given out.
    at_start: bool,
}

impl Splitter {
    pub(crate) fn new(max_line_bytes: usize) -> Self {
        Self {
            max_line_bytes,
            chunk: Bytes::new(),
            partial: Vec::new(),
            skipping: false,
            at_start: true,
        }
    }

    /// Adds what was read. Only after [`Splitter::next`] returned `None`.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty(), "the chunk before is used up");
        self.chunk = chunk;
    }

    /// The next line of what was pushed. An over-long one comes as soon as it is known to be one.
    pub(crate) fn next(&mut self) -> Option<Line> {
        while self.chunk.has_remaining() {
            let end = memchr::memchr(b'\n', &self.chunk);
            let piece = self.chunk.split_to(end.unwrap_or(self.chunk.len()));
            let ended = end.is_some();
            self.chunk.advance(usize::from(ended));
            if self.skipping {
                self.skipping = !ended;
            } else if let Some(line) = self.extend(&piece, ended) {
                return Some(line);
            }
        }
        None
    }

    /// The last line, when the stream ended without a line end.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        self.whole()
    }

    fn extend(&mut self, piece: &[u8], ended: bool) -> Option<Line> {
        // One byte over the limit is kept, for it may be the carriage return of a line end.
        let room = self.max_line_bytes + 1 - self.partial.len();
        let kept = &piece[..piece.len().min(room)];
        self.partial.extend_from_slice(kept);
        if kept.len() < piece.len() || without_return(&self.partial).len() > self.max_line_bytes {
            self.skipping = !ended;
            return Some(self.too_long());
        }
        ended.then(|| self.whole()).flatten()
    }

    fn whole(&mut self) -> Option<Line> {
        let mut line = self.take();
        line.truncate(without_return(&line).len());
        (!line.is_empty()).then_some(Line::Whole(line))
    }

    fn too_long(&mut self) -> Line {
        let mut prefix = self.take();
        prefix.truncate(self.max_line_bytes);
        Line::TooLong {
            prefix,
            limit: self.max_line_bytes,
        }
    }

    fn take(&mut self) -> Bytes {
        let mut line = Bytes::from(std::mem::take(&mut self.partial));
        if std::mem::take(&mut self.at_start) && line.starts_with(BYTE_ORDER_MARK) {
            line.advance(BYTE_ORDER_MARK.len());
        }
        line
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Eq, PartialEq)]
    enum Seen {
        Whole(String),
        TooLong(String),
    }

    fn split<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Seen> {
        let mut splitter = Splitter::new(limit);
        let mut seen = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::copy_from_slice(chunk));
            while let Some(line) = splitter.next() {
                seen.push(line);
            }
        }
        seen.extend(splitter.finish());
        seen.into_iter().map(look).collect()
    }

    fn look(line: Line) -> Seen {
        let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
        match line {
            Line::Whole(bytes) => Seen::Whole(text(bytes)),
            Line::TooLong { prefix, .. } => Seen::TooLong(text(prefix)),
        }
    }

    fn whole(text: &str) -> Seen {
        Seen::Whole(text.to_owned())
    }

    fn too_long(text: &str) -> Seen {
        Seen::TooLong(text.to_owned())
    }

    #[test]
    fn splits_at_line_ends() {
        assert_eq!(
            split(9, [&b"a\nbc"[..], b"d\n"]),
            [whole("a"), whole("bcd")]
        );
    }

    #[test]
    fn accepts_carriage_returns_and_leaves_out_empty_lines() {
        assert_eq!(
            split(9, [&b"a\r\n\n\r\nb\r"[..], b"\n"]),
            [whole("a"), whole("b")]
        );
    }

    #[test]
    fn skips_a_byte_order_mark_at_the_start_only() {
        let stream = "\u{feff}a\n\u{feff}b\n".as_bytes();
        assert_eq!(split(9, stream.chunks(1)), [whole("a"), whole("\u{feff}b")]);
    }

    #[test]
    fn serves_a_last_line_without_an_end() {
        assert_eq!(split(9, [&b"a\nb"[..]]), [whole("a"), whole("b")]);
    }

    #[test]
    fn refuses_an_over_long_line_once_and_goes_on() {
        let lines = b"12345\n1234\n1234567890\r\n1\n";
        let expected = [
            too_long("1234"),
            whole("1234"),
            too_long("1234"),
            whole("1"),
        ];
        for size in 1..lines.len() {
            assert_eq!(split(4, lines.chunks(size)), expected);
        }
    }

    #[test]
    fn counts_no_line_end() {
        assert_eq!(split(4, [&b"1234\r"[..], b"\n"]), [whole("1234")]);
        assert_eq!(split(4, [&b"1234\r"[..], b"\r\n"]), [too_long("1234")]);
    }

    proptest! {
        #[test]
        fn does_not_depend_on_where_reads_end(
            stream in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'x'), any::<u8>()], 0..200),
            size in 1_usize..50,
            limit in 1_usize..20,
        ) {
            prop_assert_eq!(split(limit, [&stream[..]]), split(limit, stream.chunks(size)));
        }
    }
}
