//! Values to bytes, in one walk.

use mcp_json::write;

use crate::{Shape, Value, nfc, sorted};

/// Takes bytes as they are written.
pub trait Sink {
    /// Takes the next bytes.
    fn take(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn take(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// A value, or one inside it, has no canonical bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Uncanonical;

/// Writes canonical JSON and hands it on in pieces.
pub struct Writer<S> {
    pending: Vec<u8>,
    sink: S,
}

impl<S: Sink> Writer<S> {
    /// A writer into `sink`.
    pub fn new(sink: S) -> Self {
        Self {
            pending: Vec::with_capacity(2 * PIECE),
            sink,
        }
    }

    /// Everything written is in the sink that this gives back.
    pub fn finish(mut self) -> S {
        self.sink.take(&self.pending);
        self.sink
    }

    /// Writes JSON that is canonical already: punctuation, vocabulary, pieces written before.
    pub fn raw(&mut self, json: impl AsRef<[u8]>) {
        self.pending.extend_from_slice(json.as_ref());
        if self.pending.len() >= PIECE {
            self.sink.take(&self.pending);
            self.pending.clear();
        }
    }

    /// Writes a string that is in NFC already.
    pub fn string(&mut self, text: &str) {
        write::string(&mut self.pending, text);
        self.raw("");
    }

    /// Writes an integer.
    pub fn integer(&mut self, integer: i64) {
        write::integer(&mut self.pending, integer);
        self.raw("");
    }

    /// Writes a value.
    ///
    /// # Errors
    ///
    /// Where the value or one inside it has no canonical bytes, or is nested deeper than [`MAX_DEPTH`]. Part of
    /// it may be in the sink then.
    pub fn value<'a, V: Value<'a>>(&mut self, value: V) -> Result<(), Uncanonical> {
        self.nested(value, 0)
    }

    fn nested<'a, V: Value<'a>>(&mut self, value: V, depth: usize) -> Result<(), Uncanonical> {
        if depth > MAX_DEPTH {
            return Err(Uncanonical);
        }
        match value.shape() {
            Shape::Null => self.raw("null"),
            Shape::Bool(true) => self.raw("true"),
            Shape::Bool(false) => self.raw("false"),
            Shape::Integer(integer) => self.integer(integer),
            Shape::Big(digits) => self.raw(digits.as_bytes()),
            Shape::Text(text) => self.string(&nfc(&text).ok_or(Uncanonical)?),
            Shape::Array(items) => self.array(items, depth)?,
            Shape::Object(members) => {
                self.object(sorted(members).map_err(|_| Uncanonical)?, depth)?;
            }
            Shape::Other => return Err(Uncanonical),
        }
        Ok(())
    }

    fn array<'a, V: Value<'a>>(&mut self, items: Vec<V>, depth: usize) -> Result<(), Uncanonical> {
        self.raw("[");
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.raw(",");
            }
            self.nested(item, depth + 1)?;
        }
        self.raw("]");
        Ok(())
    }

    fn object<'a, V: Value<'a>>(
        &mut self,
        members: Vec<(impl AsRef<str>, V)>,
        depth: usize,
    ) -> Result<(), Uncanonical> {
        self.raw("{");
        for (at, (name, member)) in members.into_iter().enumerate() {
            if at > 0 {
                self.raw(",");
            }
            self.string(name.as_ref());
            self.raw(":");
            self.nested(member, depth + 1)?;
        }
        self.raw("}");
        Ok(())
    }
}

/// Levels that a value may be nested: the walk recurses, and a dirty scheduler's stack is small.
pub const MAX_DEPTH: usize = 128;

/// Bytes that a sink gets at a time.
const PIECE: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use mcp_json::{Document, Limits};

    use super::*;

    fn canonical(json: &str) -> Result<String, Uncanonical> {
        let limits = Limits {
            max_depth: 256,
            max_number_digits: usize::MAX,
        };
        let document = Document::parse(json.as_bytes().to_vec().into(), &limits).expect("JSON");
        let mut writer = Writer::new(Vec::new());
        writer.value(document.root())?;
        Ok(String::from_utf8(writer.finish()).expect("UTF-8"))
    }

    #[test]
    fn every_value_has_one_form() {
        for (given, expected) in [
            ("[null , true,false]", "[null,true,false]"),
            ("[-0, 9007199254740993, -9]", "[0,9007199254740993,-9]"),
            ("100000000000000000000", "100000000000000000000"),
            (r#"{"b":{}, "a":[] }"#, r#"{"a":[],"b":{}}"#),
            (r#""\u0065\u0301\/\u001F""#, r#""é/\u001f""#),
        ] {
            assert_eq!(canonical(given).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn floats_have_none() {
        for json in ["1.0", "[1e2]", r#"{"a":{"b":-0.0}}"#] {
            assert_eq!(canonical(json), Err(Uncanonical));
        }
        assert_eq!(
            canonical(r#"[{"cafe\u0301":1,"caf\u00e9":2}]"#),
            Err(Uncanonical)
        );
    }

    #[test]
    fn nesting_has_a_bound() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(canonical(&nested(MAX_DEPTH + 1)), Ok(nested(MAX_DEPTH + 1)));
        assert_eq!(canonical(&nested(MAX_DEPTH + 2)), Err(Uncanonical));
    }

    #[test]
    fn long_output_arrives_whole() {
        let json = format!("[{}1]", "\"0123456789\",".repeat(5_000));
        assert_eq!(canonical(&json).as_deref(), Ok(json.as_str()));
    }
}
