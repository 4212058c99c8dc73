//! The instance as the validator reads it: a borrowed value whose every read is metered.

use std::borrow::Cow;

use jsonschema::{
    JsonType, ValidationError,
    json::{Array, Json, Node, NodeIdentity, Object, cmp},
};
use serde_json::{Map, Number, Value};

use crate::{meter::Meter, unique};

/// Reads that making one fault costs: what it allocates in the validator.
const FAULT_READS: u64 = 64;

/// Bytes of a string that a fault carries; the validator copies it into each alternative.
const MAX_CARRIED_BYTES: usize = 256;

/// Stands in faults for what they do not carry.
static OMITTED: Value = Value::Null;

/// The representation of instances: [`Metered`] values.
pub(crate) struct Instance;

/// One value of an instance, and the meter that its reads are taken from.
///
/// Property names, which the validator turns into values of their own, have no meter: the object they
/// stand in has paid for them.
#[derive(Clone, Copy)]
pub(crate) struct Metered<'a> {
    value: &'a Value,
    meter: Option<&'a Meter<'a>>,
}

/// An object of the instance.
pub(crate) struct Members<'a> {
    members: &'a Map<String, Value>,
    meter: Option<&'a Meter<'a>>,
}

/// An array of the instance.
pub(crate) struct Items<'a> {
    items: &'a [Value],
    meter: Option<&'a Meter<'a>>,
}

/// Metered values in the order of `values`, as long as the meter allows.
pub(crate) struct Each<'a, I> {
    values: I,
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Metered<'a> {
    pub(crate) fn new(value: &'a Value, meter: &'a Meter<'a>) -> Self {
        Self {
            value,
            meter: Some(meter),
        }
    }

    /// The value, unless nothing is left to read it with.
    #[inline]
    fn read(&self, reads: u64) -> Option<&'a Value> {
        take(self.meter, reads).then_some(self.value)
    }
}

/// Whether a fault was found while the meter still ran: later ones come from values that read as empty.
pub(crate) fn is_reliable(error: &ValidationError<'_>) -> bool {
    matches!(error.instance(), Cow::Borrowed(_))
}

#[inline]
fn take(meter: Option<&Meter<'_>>, reads: u64) -> bool {
    meter.is_none_or(|meter| meter.take(reads))
}

impl Json for Instance {
    type Node<'a> = Metered<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        f: impl FnOnce(Metered<'_>) -> T,
    ) -> T {
        if let Value::String(name) = buffer {
            name.clear();
            name.push_str(string);
        } else {
            *buffer = Value::from(string);
        }
        f(Metered {
            value: buffer,
            meter: None,
        })
    }
}

impl<'a> Node<'a, Instance> for Metered<'a> {
    type Object = Members<'a>;
    type Array = Items<'a>;
    type Number = &'a Number;

    #[inline]
    fn as_object(&self) -> Option<Members<'a>> {
        let members = self.read(1)?.as_object()?;
        Some(Members {
            members,
            meter: self.meter,
        })
    }

    #[inline]
    fn as_array(&self) -> Option<Items<'a>> {
        let items = self.read(1)?.as_array()?;
        Some(Items {
            items,
            meter: self.meter,
        })
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.read(1)?.as_str().map(Cow::Borrowed)
    }

    #[inline]
    fn as_number(&self) -> Option<&'a Number> {
        self.read(1)?.as_number()
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        self.read(1)?.as_bool()
    }

    #[inline]
    fn is_null(&self) -> bool {
        self.read(1).is_some_and(Value::is_null)
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        self.read(1).map_or(JsonType::Null, JsonType::from)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        self.read(1)
            .is_some_and(|value| cmp::equal(value, expected))
    }

    /// What a fault carries of the instance, which is looked up again to be shown: small scalars as they
    /// are, of the rest nothing. Owned only when the meter is spent, as [`is_reliable`] tells.
    fn to_value(&self) -> Cow<'a, Value> {
        match self.read(FAULT_READS) {
            None => Cow::Owned(Value::Null),
            Some(Value::Object(_) | Value::Array(_)) => Cow::Borrowed(&OMITTED),
            Some(Value::String(text)) if text.len() > MAX_CARRIED_BYTES => Cow::Borrowed(&OMITTED),
            Some(value) => Cow::Borrowed(value),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.value) as usize))
    }
}

impl<'a> Object<'a, Instance> for Members<'a> {
    type Node = Metered<'a>;
    type MemberName = &'a str;
    type MembersIter = Each<'a, serde_json::map::Iter<'a>>;

    fn len(&self) -> usize {
        self.members.len()
    }

    #[inline]
    fn get(&self, key: &String) -> Option<Metered<'a>> {
        if !take(self.meter, 1) {
            return None;
        }
        let value = self.members.get(key)?;
        Some(Metered {
            value,
            meter: self.meter,
        })
    }

    fn members(&self) -> Self::MembersIter {
        Each {
            values: self.members.iter(),
            meter: self.meter,
        }
    }
}

impl<'a> Array<'a, Instance> for Items<'a> {
    type Node = Metered<'a>;
    type ElementsIter = Each<'a, std::slice::Iter<'a, Value>>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        Each {
            values: self.items.iter(),
            meter: self.meter,
        }
    }

    fn is_unique(&self) -> bool {
        take(self.meter, self.items.len() as u64) && unique::first_repeat(self.items).is_none()
    }
}

impl<'a> Iterator for Each<'a, serde_json::map::Iter<'a>> {
    type Item = (&'a str, Metered<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.values.next()?;
        take(self.meter, 1).then_some((
            name.as_str(),
            Metered {
                value,
                meter: self.meter,
            },
        ))
    }
}

impl<'a> Iterator for Each<'a, std::slice::Iter<'a, Value>> {
    type Item = Metered<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let value = self.values.next()?;
        take(self.meter, 1).then_some(Metered {
            value,
            meter: self.meter,
        })
    }
}
