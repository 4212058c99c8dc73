//! The expressions that write names: `{?a,b}`, `{&a,b}` and `{;a,b}`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::byte_set::{ByteSet, QUERY_EXTRAS, SEGMENT_EXTRAS, UNRESERVED};
use crate::operator::Operator;
use crate::piece::Edge;
use crate::value::{Shape, Values};

/// The variables of one named expression.
pub(crate) struct Named {
    /// The place of its first variable among those of the template.
    pub(crate) slot: usize,
    slots: HashMap<Arc<str>, usize>,
    operator: &'static Operator,
    bytes: ByteSet,
    shape: Shape,
}

impl Named {
    /// `names` take the places from `slot` on.
    pub(crate) fn new(slot: usize, names: &[Arc<str>], operator: &'static Operator) -> Self {
        let (extras, shape) = match operator.separator {
            b'&' => (QUERY_EXTRAS, Shape::Path),
            _ => (SEGMENT_EXTRAS, Shape::Segment),
        };
        Self {
            slot,
            slots: names.iter().cloned().zip(slot..).collect(),
            operator,
            bytes: UNRESERVED.union(extras).without(operator.separator),
            shape,
        }
    }

    /// What a variable in front of this expression stands next to.
    pub(crate) fn first_edge(&self) -> Edge {
        Edge::Byte(self.operator.first.as_bytes()[0])
    }

    /// Matches all of `text`: nothing, or pairs in any order, each name at most once. A name alone has
    /// the empty value.
    pub(crate) fn matches(&self, text: &str, values: &mut Values) -> Option<()> {
        if text.is_empty() {
            return Some(());
        }
        let pairs = text.strip_prefix(self.operator.first)?;
        for pair in pairs.split(char::from(self.operator.separator)) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let slot = *self.slots.get(name)?;
            if !self.bytes.contains_all(value) {
                return None;
            }
            values.note(slot, self.shape, value)?;
        }
        Some(())
    }
}
