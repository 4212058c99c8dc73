//! What the parts of a template are made of once its operators are resolved.

use crate::byte_set::{ByteSet, RESERVED, SEGMENT_EXTRAS, UNRESERVED};
use crate::operator::{Form, Operator};
use crate::value::{Shape, Values};

/// One piece of a template, in the order of its text.
pub(crate) enum Piece {
    /// Text, also what operators write before and between their variables.
    Literal(String),
    /// A variable without its name in the URI.
    Variable(Variable),
}

/// A variable of `{a}`, `{+a}`, `{#a}`, `{.a}` or `{/a}`.
pub(crate) struct Variable {
    /// Its place among the variables of the template.
    pub(crate) slot: usize,
    /// The bytes that its text in a URI is made of.
    bytes: ByteSet,
    /// What stands between the variables of its expression, where it has several.
    separator: Option<u8>,
    shape: Shape,
}

/// What a variable stands next to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Edge {
    /// The start or the end of its part of the URI.
    Limit,
    /// Text, with this byte next to the variable.
    Byte(u8),
    /// Another variable.
    Variable,
}

impl Piece {
    /// What a variable in front of this piece stands next to.
    pub(crate) fn first_edge(&self) -> Edge {
        self.edge(|text| text.bytes().next())
    }

    /// What a variable behind this piece stands next to.
    pub(crate) fn last_edge(&self) -> Edge {
        self.edge(|text| text.bytes().next_back())
    }

    fn edge(&self, byte: impl Fn(&str) -> Option<u8>) -> Edge {
        match self {
            Self::Literal(text) => byte(text).map_or(Edge::Limit, Edge::Byte),
            Self::Variable(_) => Edge::Variable,
        }
    }

    /// Matches this piece at the start of `text`; what is left.
    pub(crate) fn after<'t>(&self, text: &'t str, values: &mut Values) -> Option<&'t str> {
        match self {
            Self::Literal(literal) => text.strip_prefix(literal.as_str()),
            Self::Variable(variable) => {
                let end = text.bytes().position(|byte| !variable.bytes.contains(byte));
                let (own, rest) = text.split_at(end.unwrap_or(text.len()));
                variable.note(own, values).map(|()| rest)
            }
        }
    }

    /// Matches this piece at the end of `text`; what is left.
    pub(crate) fn before<'t>(&self, text: &'t str, values: &mut Values) -> Option<&'t str> {
        match self {
            Self::Literal(literal) => text.strip_suffix(literal.as_str()),
            Self::Variable(variable) => {
                let start = text
                    .bytes()
                    .rposition(|byte| !variable.bytes.contains(byte));
                let (rest, own) = text.split_at(start.map_or(0, |at| at + 1));
                variable.note(own, values).map(|()| rest)
            }
        }
    }
}

impl Variable {
    pub(crate) fn new(slot: usize, operator: &Operator, alone: bool) -> Self {
        let separator = (!alone).then_some(operator.separator);
        let (bytes, shape) = match operator.form {
            Form::Reserved => (UNRESERVED.union(RESERVED), Shape::Path),
            Form::Simple | Form::Named => (UNRESERVED, Shape::Segment),
        };
        Self {
            slot,
            bytes: separator.map_or(bytes, |separator| bytes.without(separator)),
            separator,
            shape,
        }
    }

    /// Whether no value of this variable reaches beyond `edge`.
    pub(crate) fn is_closed_by(&self, edge: Edge) -> bool {
        match edge {
            Edge::Limit => true,
            Edge::Byte(byte) => !self.bytes.contains(byte),
            Edge::Variable => false,
        }
    }

    /// Refuses a slash at the start of the value, because the template has one there.
    pub(crate) fn follow_slash(&mut self) {
        if self.shape == Shape::Path {
            self.shape = Shape::RelativePath;
        }
    }

    /// Takes reserved characters as they stand in a segment, save what delimits the variable.
    pub(crate) fn tolerate_extras(&mut self, delimiter: Edge) {
        if self.shape != Shape::Segment {
            return;
        }
        let mut extras = SEGMENT_EXTRAS;
        if let Edge::Byte(byte) = delimiter {
            extras = extras.without(byte);
        }
        if let Some(separator) = self.separator {
            extras = extras.without(separator);
        }
        self.bytes = self.bytes.union(extras);
    }

    /// Notes the value that `text` stands for; an empty one could as well be undefined.
    fn note(&self, text: &str, values: &mut Values) -> Option<()> {
        if text.is_empty() {
            return None;
        }
        values.note(self.slot, self.shape, text)
    }
}
