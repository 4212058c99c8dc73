//! Scopes (RFC 6749 §3.3): what a caller was granted against what an operation needs.
//!
//! Strings are compared exactly; `*` and prefixes mean nothing. A *gate* is what a method needs, a *definition* what one
//! tool, resource or prompt needs beyond it, a *hierarchy* which scopes stand for others.

mod definition;
mod gate;
mod hierarchy;

use std::{fmt, sync::Arc};

pub use definition::{Definition, DefinitionError, Denial};
pub use gate::{Gates, GatesError, Operation, Selection};
pub use hierarchy::{Hierarchy, HierarchyError};

/// One scope.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Scope(Arc<str>);

/// Scopes all of which are needed.
pub type Clause = Vec<Scope>;

/// What was granted: no scope twice, in the order in which it was said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Scopes(Vec<Scope>);

/// Whether an operation may be done.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Decided {
    /// It may.
    Permit,
    /// With these scopes it might.
    Challenge(Clause),
    /// As if there were no such thing.
    Unknown,
}

impl Scope {
    /// A scope-token of RFC 6749; none for another character, and for nothing at all.
    pub fn parse(text: &str) -> Option<Self> {
        let legal = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        (!text.is_empty() && text.bytes().all(legal)).then(|| Self(text.into()))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Scopes {
    /// Adds one that may be there already.
    pub fn add(&mut self, scope: Scope) {
        if !self.0.contains(&scope) {
            self.0.push(scope);
        }
    }

    /// Whether all of a clause were granted.
    pub fn hold(&self, clause: &[Scope]) -> bool {
        clause.iter().all(|scope| self.0.contains(scope))
    }

    /// In the order in which they were said.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Scope::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was granted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        let mut granted = Self::default();
        for scope in scopes {
            granted.add(scope);
        }
        granted
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Decides over an operation on at most one definition. `granted` is expanded by the hierarchy already; `usual` is what
/// callers of the method are told of a definition that does not say itself ([`Gates::denial`]).
///
/// A challenge names the gate and the definition's primary clause; there is no way to say "or". One whose gate is not
/// passed says nothing of a definition that is not to be known.
pub fn decide(
    granted: &Scopes,
    gate: &[Scope],
    definition: Option<&Definition>,
    usual: Denial,
) -> Decided {
    let passes_gate = granted.hold(gate);
    match definition.filter(|definition| !definition.permits(granted)) {
        None if passes_gate => Decided::Permit,
        Some(definition) if definition.denial(usual) == Denial::Neutral && passes_gate => {
            Decided::Unknown
        }
        denied => {
            let named = denied.filter(|denied| denied.denial(usual) == Denial::Challenge);
            let primary = named.map_or(&[][..], Definition::primary);
            Decided::Challenge(union(gate.iter().chain(primary)))
        }
    }
}

/// The scopes, each once, in their order.
pub fn union<'a>(scopes: impl IntoIterator<Item = &'a Scope>) -> Clause {
    scopes.into_iter().cloned().collect::<Scopes>().0
}
