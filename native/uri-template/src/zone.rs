//! One part of a template - path, query or fragment - and how it is matched from both ends.

use crate::named::Named;
use crate::piece::{Edge, Piece, Variable};
use crate::value::Values;

/// The pieces of one part of a template, in order.
#[derive(Default)]
pub(crate) struct Zone {
    pieces: Vec<Piece>,
    /// The named expression that ends it.
    named: Option<Named>,
    /// The piece that is the open variable: what follows it is matched from the end.
    open: Option<usize>,
}

/// Two variables that cannot be told apart, by their places among all.
pub(crate) struct Ambiguous {
    pub(crate) first: usize,
    pub(crate) second: usize,
}

impl Zone {
    pub(crate) fn push_char(&mut self, char: char) {
        match self.pieces.last_mut() {
            Some(Piece::Literal(text)) => text.push(char),
            _ => self.pieces.push(Piece::Literal(char.into())),
        }
    }

    pub(crate) fn push_variable(&mut self, mut variable: Variable) {
        if self.ends_with_slash() {
            variable.follow_slash();
        }
        self.pieces.push(Piece::Variable(variable));
    }

    pub(crate) fn end_with(&mut self, named: Named) {
        self.named = Some(named);
    }

    /// Finds the open variable and settles what delimits the others.
    pub(crate) fn arrange(mut self) -> Result<Self, Ambiguous> {
        let edges: Vec<_> = (0..self.pieces.len()).map(|at| self.edges(at)).collect();
        let mut first = None;
        for (at, (piece, (front, back))) in self.pieces.iter_mut().zip(edges).enumerate() {
            let Piece::Variable(variable) = piece else {
                continue;
            };
            let delimiter = if first.is_none() { back } else { front };
            if !variable.is_closed_by(delimiter) {
                let second = variable.slot;
                if let Some(first) = first {
                    return Err(Ambiguous { first, second });
                }
                first = Some(second);
                self.open = Some(at);
            }
            variable.tolerate_extras(delimiter);
        }
        match (first, &self.named) {
            (Some(first), Some(named)) => Err(Ambiguous {
                first,
                second: named.slot,
            }),
            _ => Ok(self),
        }
    }

    /// Whether a slash that begins a segment comes last; the one before an authority begins none.
    fn ends_with_slash(&self) -> bool {
        match self.pieces.last() {
            Some(Piece::Literal(text)) => text.ends_with('/') && !text.ends_with("://"),
            _ => false,
        }
    }

    /// What stands in front of a piece and behind it.
    fn edges(&self, at: usize) -> (Edge, Edge) {
        let end = self.named.as_ref().map_or(Edge::Limit, Named::first_edge);
        let front = at
            .checked_sub(1)
            .map(|before| self.pieces[before].last_edge());
        let back = self.pieces.get(at + 1).map(Piece::first_edge);
        (front.unwrap_or(Edge::Limit), back.unwrap_or(end))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.named.is_none()
    }

    pub(crate) fn has_named(&self) -> bool {
        self.named.is_some()
    }

    /// The literal that every match begins with, and whether a match is nothing else.
    pub(crate) fn literal(&self) -> (&str, bool) {
        match self.pieces.as_slice() {
            [] => ("", !self.has_named()),
            [Piece::Literal(text)] => (text, !self.has_named()),
            [Piece::Literal(text), ..] => (text, false),
            [Piece::Variable(_), ..] => ("", false),
        }
    }

    /// Matches all of `text`.
    pub(crate) fn matches(&self, text: &str, values: &mut Values) -> Option<()> {
        let (head, tail) = self.pieces.split_at(self.open.unwrap_or(self.pieces.len()));
        let mut rest = text;
        for piece in head {
            rest = piece.after(rest, values)?;
        }
        let Some((open, tail)) = tail.split_first() else {
            return self.matches_end(rest, values);
        };
        for piece in tail.iter().rev() {
            rest = piece.before(rest, values)?;
        }
        open.after(rest, values)?.is_empty().then_some(())
    }

    fn matches_end(&self, text: &str, values: &mut Values) -> Option<()> {
        match &self.named {
            Some(named) => named.matches(text, values),
            None => text.is_empty().then_some(()),
        }
    }
}
