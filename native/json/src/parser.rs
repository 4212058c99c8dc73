//! The one pass over a text.

use crate::tape::{ESCAPED, Entry, FLOAT};
use crate::{Error, ErrorKind, Limits, Node, keys, number, string};

/// Reads a whole text into a tape.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Vec<Entry>, Error> {
    let mut parser = Parser::new(text, limits);
    parser.document()?;
    Ok(parser.tape)
}

/// Reads a text that may have been cut anywhere into the tape of an object whose last member may lack
/// its value. `None` if the text is no object, or has a fault other than ending too early.
pub(crate) fn parse_cut(text: &str, limits: &Limits) -> Option<Vec<Entry>> {
    let mut parser = Parser::new(text, limits);
    match parser.document() {
        Ok(()) => {}
        Err(error) if error.is_end_of(text) => parser.close_cut_object()?,
        Err(_) => return None,
    }
    Some(parser.tape)
}

/// Refuses texts beyond the 32-bit offsets of a tape.
pub(crate) const fn check_size(got: usize) -> Result<(), Error> {
    let limit = u32::MAX as usize;
    if got <= limit {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::TooLarge { limit, got }, limit))
    }
}

/// One pass over a text. The containers still open form a list through their entries on the tape, so
/// nesting costs neither recursion nor a stack.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    limits: &'a Limits,
    tape: Vec<Entry>,
    /// Index of the innermost container that is open, or [`NONE`].
    open: u32,
    /// Whether that is an object.
    in_object: bool,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, limits: &'a Limits) -> Self {
        let capacity = text.len() / BYTES_PER_ENTRY + 1;
        let tape = Vec::with_capacity(capacity.min(MAX_RESERVED_ENTRIES));
        Self {
            text,
            at: 0,
            limits,
            tape,
            open: NONE,
            in_object: false,
            depth: 0,
        }
    }

    fn document(&mut self) -> Result<(), Error> {
        if self.token().is_none() {
            return Err(self.error(ErrorKind::Empty));
        }
        loop {
            let mut ended = self.value()?;
            while ended {
                if self.open == NONE {
                    return self.end_of_text();
                }
                ended = self.after_value()?;
            }
        }
    }

    /// Reads a scalar, an empty container or the opening of a container up to its first value.
    /// Returns whether a value has ended; otherwise another one follows.
    fn value(&mut self) -> Result<bool, Error> {
        match self.token() {
            Some(b'"') => self.string()?,
            Some(b'{') => return self.open_object(),
            Some(b'[') => return self.open(b']'),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal("true")?,
            Some(b'f') => self.literal("false")?,
            Some(b'n') => self.literal("null")?,
            _ => return Err(self.expected("a value")),
        }
        Ok(true)
    }

    /// Reads what follows a value inside a container: a comma, with the next key if it is an object, or
    /// the end of the container. Returns whether the container has ended.
    fn after_value(&mut self) -> Result<bool, Error> {
        match self.token() {
            Some(b',') => {
                self.at += 1;
                self.tape[self.open as usize].detail += 1;
                if self.in_object {
                    self.key()?;
                }
                return Ok(false);
            }
            Some(b'}') if self.in_object => self.close_object()?,
            Some(b']') if !self.in_object => self.close(),
            _ if self.in_object => return Err(self.expected("`,` or `}`")),
            _ => return Err(self.expected("`,` or `]`")),
        }
        Ok(true)
    }

    fn end_of_text(&mut self) -> Result<(), Error> {
        match self.token() {
            Some(_) => Err(self.error(ErrorKind::TrailingBytes)),
            None => Ok(()),
        }
    }

    fn open_object(&mut self) -> Result<bool, Error> {
        let empty = self.open(b'}')?;
        if !empty {
            self.key()?;
        }
        Ok(empty)
    }

    /// Opens a container, and closes it if it is empty. Returns whether it was.
    fn open(&mut self, closing: u8) -> Result<bool, Error> {
        let limit = self.limits.max_depth;
        if self.depth == limit {
            return Err(self.error(ErrorKind::TooDeep { limit }));
        }
        let index = self.tape.len() as u32;
        self.tape.push(Entry {
            start: self.at as u32,
            end: 0,
            next: self.open,
            detail: 0,
        });
        self.open = index;
        self.in_object = closing == b'}';
        self.depth += 1;
        self.at += 1;
        if self.token() == Some(closing) {
            self.close();
            return Ok(true);
        }
        self.tape[index as usize].detail = 1;
        Ok(false)
    }

    fn close_object(&mut self) -> Result<(), Error> {
        let index = self.open;
        self.close();
        keys::check_unique(Node::new(self.text, &self.tape, index))
    }

    fn close(&mut self) {
        self.at += 1;
        let next = self.tape.len() as u32;
        let container = &mut self.tape[self.open as usize];
        self.open = container.next;
        self.depth -= 1;
        container.end = self.at as u32;
        container.next = next;
        let around = self.tape.get(self.open as usize);
        self.in_object =
            around.is_some_and(|around| self.byte(around.start as usize) == Some(b'{'));
    }

    fn key(&mut self) -> Result<(), Error> {
        if self.token() != Some(b'"') {
            return Err(self.expected("a key in quotation marks"));
        }
        self.string()?;
        if self.token() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Error> {
        let (end, escaped) = string::scan(self.text.as_bytes(), self.at)?;
        self.push(end, if escaped { ESCAPED } else { 0 });
        Ok(())
    }

    fn number(&mut self) -> Result<(), Error> {
        let (end, float) = number::scan(self.text, self.at, self.limits)?;
        self.push(end, if float { FLOAT } else { 0 });
        Ok(())
    }

    fn literal(&mut self, word: &'static str) -> Result<(), Error> {
        let found = &self.text.as_bytes()[self.at..];
        if found.starts_with(word.as_bytes()) {
            self.push(self.at + word.len(), 0);
            return Ok(());
        }
        let same = found
            .iter()
            .zip(word.bytes())
            .take_while(|(byte, letter)| *byte == letter);
        Err(Error::expected(word, self.at + same.count()))
    }

    /// Notes a scalar or key from here to `end`.
    fn push(&mut self, end: usize, detail: u32) {
        let next = self.tape.len() as u32 + 1;
        self.tape.push(Entry {
            start: self.at as u32,
            end: end as u32,
            next,
            detail,
        });
        self.at = end;
    }

    /// Closes the outermost object, left open where the text was cut, behind the last member that is
    /// complete; the key of the next one stays, without a value.
    fn close_cut_object(&mut self) -> Option<()> {
        let root = *self.tape.first()?;
        if self.text.as_bytes()[root.start as usize] != b'{' {
            return None;
        }
        let mut detail = 0;
        let mut next = 1;
        while let Some(value) = self.tape.get(next + 1)
            && self.is_complete(*value, next + 1)
        {
            detail += 1;
            next = value.next as usize;
        }
        if next < self.tape.len() {
            detail += 1;
            next += 1;
        }
        let (end, next) = (self.text.len() as u32, next as u32);
        self.tape[0] = Entry {
            end,
            next,
            detail,
            ..root
        };
        keys::check_unique(Node::new(self.text, &self.tape, 0)).ok()
    }

    /// Whether the value at `index` had ended before the text did. A number at the very end may have
    /// been cut; a container still open refers back to the one around it.
    fn is_complete(&self, value: Entry, index: usize) -> bool {
        let is_number = matches!(
            self.text.as_bytes()[value.start as usize],
            b'-' | b'0'..=b'9'
        );
        value.next as usize > index && !(is_number && value.end as usize == self.text.len())
    }

    /// The next byte that is no white space, from now on the one that stands at `at`.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.byte(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    #[inline]
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.at)
    }

    #[cold]
    fn expected(&self, what: &'static str) -> Error {
        Error::expected(what, self.at)
    }
}

/// Index of no entry; a text within [`check_size`] has none this high.
const NONE: u32 = u32::MAX;

/// Source bytes for each entry in ordinary messages, with some room.
const BYTES_PER_ENTRY: usize = 8;

/// Entries that are reserved before anything was read; a text may be one long string.
const MAX_RESERVED_ENTRIES: usize = 1024;
