//! One value, read where it stands.

use std::borrow::Cow;
use std::fmt::{self, Debug, Formatter};
use std::iter;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::tape::{ESCAPED, Entry, FLOAT};
use crate::{NodeId, Number, string};

/// One value of a [`Document`](crate::Document), read where it stands.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    text: &'a str,
    tape: &'a [Entry],
    at: u32,
}

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, see [`Number`].
    Number,
    /// A string.
    String,
    /// An array of items.
    Array,
    /// An object of members.
    Object,
}

impl<'a> Node<'a> {
    #[inline]
    pub(crate) const fn new(text: &'a str, tape: &'a [Entry], at: u32) -> Self {
        Self { text, tape, at }
    }

    /// The position, by which [`Document::node`](crate::Document::node) finds the value again.
    #[inline]
    pub const fn id(self) -> NodeId {
        NodeId(self.at)
    }

    /// What kind of value this is.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.text.as_bytes()[self.entry().start as usize] {
            b'n' => Kind::Null,
            b't' | b'f' => Kind::Bool,
            b'"' => Kind::String,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            _ => Kind::Number,
        }
    }

    /// The source text of the value, exactly as it came.
    #[inline]
    pub fn raw(self) -> &'a str {
        &self.text[self.span()]
    }

    /// Where [`raw`](Self::raw) lies in the document's bytes.
    #[inline]
    pub fn span(self) -> Range<usize> {
        let entry = self.entry();
        entry.start as usize..entry.end as usize
    }

    /// Whether the value is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The boolean, if the value is one.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// The decoded string, if the value is one; borrowed unless it has escapes.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| self.string())
    }

    /// The number, if the value is one.
    #[inline]
    pub fn number(self) -> Option<Number<'a>> {
        (self.kind() == Kind::Number)
            .then(|| Number::read(self.raw(), self.entry().detail == FLOAT))
    }

    /// The value of an object's member. Keys are compared decoded and with regard to case. Takes time
    /// linear in the number of members.
    #[inline]
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        let mut children = self.children_of(Kind::Object);
        while let (Some(name), Some(value)) = (children.next(), children.next()) {
            if name.has_text(key) {
                return Some(value);
            }
        }
        None
    }

    /// The members of an object in source order; none if the value is no object.
    #[inline]
    pub fn members(self) -> Members<'a> {
        Members(self.children_of(Kind::Object))
    }

    /// The items of an array; none if the value is no array.
    #[inline]
    pub fn items(self) -> Items<'a> {
        Items(self.children_of(Kind::Array))
    }

    /// The number of members or items; 0 if the value is neither object nor array.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "most values have no length")]
    pub fn len(self) -> usize {
        match self.kind() {
            Kind::Array | Kind::Object => self.entry().detail as usize,
            _ => 0,
        }
    }

    /// Values and keys here and below: a measure of the work that decoding this value takes.
    #[inline]
    pub fn entries(self) -> usize {
        (self.entry().next - self.at) as usize
    }

    /// The value as a tree, numbers exact. Recurses as deep as the value is nested, which
    /// [`Limits::max_depth`](crate::Limits) bounds.
    pub fn to_value(self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(self.raw() == "true"),
            Kind::Number => Value::Number(self.raw().parse().expect("the grammar was checked")),
            Kind::String => Value::String(self.string().into_owned()),
            Kind::Array => Value::Array(self.items().map(Node::to_value).collect()),
            Kind::Object => {
                let mut map = Map::with_capacity(self.len());
                map.extend(
                    self.members()
                        .map(|(key, value)| (key.into_owned(), value.to_value())),
                );
                Value::Object(map)
            }
        }
    }

    /// The keys of an object, which are strings on the tape too.
    pub(crate) fn keys(self) -> impl Iterator<Item = Node<'a>> {
        let mut children = self.children_of(Kind::Object);
        iter::from_fn(move || {
            let key = children.next();
            children.next();
            key
        })
    }

    /// The decoded text of a string or key.
    #[inline]
    pub(crate) fn string(self) -> Cow<'a, str> {
        let inner = self.inner();
        if self.entry().detail == ESCAPED {
            Cow::Owned(string::decode(inner))
        } else {
            Cow::Borrowed(inner)
        }
    }

    /// The source text of a string or key if equal text means equal strings, hence without escapes.
    #[inline]
    pub(crate) fn plain(self) -> Option<&'a [u8]> {
        (self.entry().detail != ESCAPED).then(|| &self.text.as_bytes()[self.span()])
    }

    /// Whether a string or key decodes to `text`.
    #[inline]
    fn has_text(self, text: &str) -> bool {
        let span = self.span();
        if self.entry().detail == ESCAPED {
            return self.string() == text;
        }
        // With the quotation marks around it.
        span.len() == text.len() + 2
            && self.text.as_bytes()[span.start + 1..span.end - 1] == *text.as_bytes()
    }

    /// The source text between the quotation marks of a string or key.
    #[inline]
    fn inner(self) -> &'a str {
        let Range { start, end } = self.span();
        &self.text[start + 1..end - 1]
    }

    /// The entries directly below a value of this kind, keys included; none below another kind.
    #[inline]
    fn children_of(self, kind: Kind) -> Children<'a> {
        let end = if self.kind() == kind {
            self.entry().next
        } else {
            self.at
        };
        Children {
            node: Node {
                at: self.at + 1,
                ..self
            },
            end,
        }
    }

    #[inline]
    fn entry(self) -> &'a Entry {
        &self.tape[self.at as usize]
    }
}

impl Debug for Node<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("kind", &self.kind())
            .field("span", &self.span())
            .finish()
    }
}

/// The members of an object in source order, names decoded.
pub struct Members<'a>(Children<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?.string(), self.0.next()?))
    }
}

/// The items of an array.
pub struct Items<'a>(Children<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        self.0.next()
    }
}

/// The entries of one container, each step skipping what the entry contains.
struct Children<'a> {
    node: Node<'a>,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let node = self.node;
        if node.at >= self.end {
            return None;
        }
        self.node.at = node.entry().next;
        Some(node)
    }
}
