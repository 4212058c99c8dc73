//! What a value has to tell so that it can be written.

use std::borrow::Cow;

use mcp_json::{Kind, Node, Number};

/// A handle on a value that stands somewhere: a JSON document, a heap.
pub trait Value<'a>: Copy {
    /// What the value is. Asked once for each value that is written.
    fn shape(self) -> Shape<'a, Self>;
}

/// What a value can be.
pub enum Shape<'a, V> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// The decimal text of an integer beyond 64 bits, without sign but a minus.
    Big(Cow<'a, str>),
    /// A string, which may turn out not to be UTF-8.
    Text(Cow<'a, [u8]>),
    /// An array.
    Array(Vec<V>),
    /// An object, whose keys may turn out to be equal.
    Object(Vec<(Key<'a, V>, V)>),
    /// Anything that has no canonical bytes: a float, a tuple, a reference.
    Other,
}

/// What stands before a member of an object.
pub enum Key<'a, V> {
    /// A name.
    Text(Cow<'a, [u8]>),
    /// Something that names no member.
    Other(V),
}

impl<'a> Value<'a> for Node<'a> {
    fn shape(self) -> Shape<'a, Self> {
        match self.kind() {
            Kind::Null => Shape::Null,
            Kind::Bool => Shape::Bool(self.as_bool() == Some(true)),
            Kind::Number => match self.number() {
                Some(Number::Integer(integer)) => Shape::Integer(integer),
                Some(Number::Big(digits)) => Shape::Big(digits.into()),
                Some(Number::Float(_)) | None => Shape::Other,
            },
            Kind::String => Shape::Text(bytes(self.as_str().unwrap_or_default())),
            Kind::Array => Shape::Array(self.items().collect()),
            Kind::Object => Shape::Object(
                self.members()
                    .map(|(name, member)| (Key::Text(bytes(name)), member))
                    .collect(),
            ),
        }
    }
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}
