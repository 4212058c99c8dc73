//! The instance as it lies in its message: validated without a value tree.
//!
//! Only a verdict comes from here. Looking a member up takes time linear in its object, so this is for small instances
//! ([`MAX_ENTRIES`]); a larger or a faulty one is read as a tree ([`crate::instance`]).

use std::borrow::Cow;

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object, cmp},
};
use mcp_json::Kind;
use serde_json::Value;

use crate::{digits::Digits, meter::Meter, unique};

/// The largest instance that is read this way, in values and keys.
pub(crate) const MAX_ENTRIES: usize = 256;

/// The representation of instances: [`Part`]s of a message.
pub(crate) struct Message;

/// One value of the instance, and the meter that its reads are taken from.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    value: Text<'a>,
    meter: Option<&'a Meter<'a>>,
}

#[derive(Clone, Copy)]
enum Text<'a> {
    Value(mcp_json::Node<'a>),
    /// A property's name, which the validator looks at like a value.
    Name(&'a str),
}

/// An object, or an array, of the instance.
pub(crate) struct Container<'a> {
    node: mcp_json::Node<'a>,
    meter: Option<&'a Meter<'a>>,
}

/// What lies in a container, as long as the meter allows.
pub(crate) struct Each<'a, I> {
    parts: I,
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Part<'a> {
    pub(crate) fn new(node: mcp_json::Node<'a>, meter: &'a Meter<'a>) -> Self {
        Self::of(node, Some(meter))
    }

    fn of(node: mcp_json::Node<'a>, meter: Option<&'a Meter<'a>>) -> Self {
        let value = Text::Value(node);
        Self { value, meter }
    }

    /// The value when it is of this kind and something is left to read it with.
    #[inline]
    fn node(&self, kind: Kind) -> Option<mcp_json::Node<'a>> {
        match self.value {
            Text::Value(node) if node.kind() == kind && take(self.meter) => Some(node),
            _ => None,
        }
    }

    fn container(&self, kind: Kind) -> Option<Container<'a>> {
        let node = self.node(kind)?;
        let meter = self.meter;
        Some(Container { node, meter })
    }

    fn tree(&self) -> Value {
        match self.value {
            Text::Value(_) if !take(self.meter) => Value::Null,
            Text::Value(node) => node.to_value(),
            Text::Name(name) => Value::from(name),
        }
    }
}

#[inline]
fn take(meter: Option<&Meter<'_>>) -> bool {
    meter.is_none_or(|meter| meter.take(1))
}

impl Json for Message {
    type Node<'a> = Part<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), name: &str, f: impl FnOnce(Part<'_>) -> T) -> T {
        f(Part {
            value: Text::Name(name),
            meter: None,
        })
    }
}

impl<'a> Node<'a, Message> for Part<'a> {
    type Object = Container<'a>;
    type Array = Container<'a>;
    type Number = Digits<'a>;

    #[inline]
    fn as_object(&self) -> Option<Container<'a>> {
        self.container(Kind::Object)
    }

    #[inline]
    fn as_array(&self) -> Option<Container<'a>> {
        self.container(Kind::Array)
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.value {
            Text::Name(name) => Some(Cow::Borrowed(name)),
            Text::Value(_) => self.node(Kind::String)?.as_str(),
        }
    }

    #[inline]
    fn as_number(&self) -> Option<Digits<'a>> {
        let node = self.node(Kind::Number)?;
        Some(Digits(node.raw()))
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        self.node(Kind::Bool)?.as_bool()
    }

    #[inline]
    fn is_null(&self) -> bool {
        self.node(Kind::Null).is_some()
    }

    #[inline]
    fn is_number(&self) -> bool {
        self.node(Kind::Number).is_some()
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        match self.value {
            Text::Name(_) => JsonType::String,
            Text::Value(_) if !take(self.meter) => JsonType::Null,
            Text::Value(node) => match node.kind() {
                Kind::Null => JsonType::Null,
                Kind::Bool => JsonType::Boolean,
                Kind::Number => JsonType::Number,
                Kind::String => JsonType::String,
                Kind::Array => JsonType::Array,
                Kind::Object => JsonType::Object,
            },
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        cmp::equal(&self.tree(), expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(self.tree())
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let start = match self.value {
            Text::Value(node) => node.raw().as_ptr(),
            Text::Name(name) => name.as_ptr(),
        };
        Some(NodeIdentity::new(start as usize))
    }
}

impl<'a> Object<'a, Message> for Container<'a> {
    type Node = Part<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = Each<'a, mcp_json::Members<'a>>;

    fn len(&self) -> usize {
        self.node.len()
    }

    #[inline]
    fn get(&self, key: &String) -> Option<Part<'a>> {
        if !take(self.meter) {
            return None;
        }
        let node = self.node.get(key)?;
        Some(Part::of(node, self.meter))
    }

    fn members(&self) -> Self::MembersIter {
        Each {
            parts: self.node.members(),
            meter: self.meter,
        }
    }
}

impl<'a> Array<'a, Message> for Container<'a> {
    type Node = Part<'a>;
    type ElementsIter = Each<'a, mcp_json::Items<'a>>;

    fn len(&self) -> usize {
        self.node.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        Each {
            parts: self.node.items(),
            meter: self.meter,
        }
    }

    fn is_unique(&self) -> bool {
        let items: Vec<Value> = self.node.items().map(mcp_json::Node::to_value).collect();
        take(self.meter) && unique::first_repeat(&items).is_none()
    }
}

impl<'a> Iterator for Each<'a, mcp_json::Members<'a>> {
    type Item = (Cow<'a, str>, Part<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, node) = self.parts.next()?;
        take(self.meter).then_some((name, Part::of(node, self.meter)))
    }
}

impl<'a> Iterator for Each<'a, mcp_json::Items<'a>> {
    type Item = Part<'a>;

    #[inline]
    fn next(&mut self) -> Option<Part<'a>> {
        let node = self.parts.next()?;
        take(self.meter).then_some(Part::of(node, self.meter))
    }
}
