//! The vocabulary as atoms, made once for each call: comparing atoms is quicker than reading them.

use mcp_connectome::{EdgeKind, Level, NodeKind, Provenance, Sign};
use rustler::{Atom, Env, Term};

/// The atoms of every word.
pub(super) struct Words {
    pub(super) node_kinds: Table<NodeKind>,
    pub(super) levels: Table<Level>,
    pub(super) edge_kinds: Table<EdgeKind>,
    pub(super) provenances: Table<Provenance>,
    pub(super) signs: Table<Sign>,
}

impl Words {
    pub(super) fn new(env: Env<'_>) -> Self {
        Self {
            node_kinds: Table::new(env, NodeKind::ALL, NodeKind::name),
            levels: Table::new(env, Level::ALL, Level::name),
            edge_kinds: Table::new(env, EdgeKind::ALL, EdgeKind::name),
            provenances: Table::new(env, Provenance::ALL, Provenance::name),
            signs: Table::new(env, Sign::ALL, Sign::name),
        }
    }
}

/// The atoms of some words, in the order of the words.
pub(super) struct Table<T>(Vec<(Atom, T)>);

impl<T: Copy + PartialEq> Table<T> {
    fn new(env: Env<'_>, all: &[T], word: fn(T) -> &'static str) -> Self {
        Self(
            all.iter()
                .map(|one| (atom(env, word(*one)), *one))
                .collect(),
        )
    }

    /// What an atom stands for.
    pub(super) fn read(&self, term: Term<'_>) -> Option<T> {
        let row = self.0.iter().find(|(atom, _)| *atom == term)?;
        Some(row.1)
    }

    /// The atom of a word.
    pub(super) fn term<'a>(&self, env: Env<'a>, one: T) -> Term<'a> {
        let row = self.0.iter().find(|(_, other)| *other == one);
        row.expect("the table has every word").0.to_term(env)
    }
}

/// The atom of a word of ours.
pub(super) fn atom(env: Env<'_>, word: &str) -> Atom {
    Atom::from_str(env, word).expect("the words are short")
}
