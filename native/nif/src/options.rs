//! Options as they come from Elixir: a map with every key present, checked there already.

use std::time::Duration;

use rustler::{Atom, Decoder, NifResult, Term, types::atom};

use crate::{atoms, fault::Fault};

/// A map of options.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a>(pub(crate) Term<'a>);

impl<'a> Options<'a> {
    /// The option `key`.
    pub(crate) fn get<T: Decoder<'a>>(self, key: Atom) -> Result<T, Fault> {
        self.0
            .map_get(key)
            .and_then(Term::decode)
            .map_err(|_| wrong(key, "missing or of another type"))
    }

    /// The option `key`, which is a duration in milliseconds.
    pub(crate) fn duration_ms(self, key: Atom) -> Result<Duration, Fault> {
        self.get(key).map(Duration::from_millis)
    }
}

/// An atom, or none for `nil`. `Option<Atom>` is no such thing: `nil` is an atom too.
pub(crate) struct OptionalAtom(pub(crate) Option<Atom>);

impl<'a> Decoder<'a> for OptionalAtom {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        let given: Atom = term.decode()?;
        Ok(Self(Some(given).filter(|given| *given != atom::nil())))
    }
}

/// Names the option, never its value: it may be a secret.
pub(crate) fn wrong(key: Atom, what: &str) -> Fault {
    Fault::new(atoms::config(), format!("the option {key:?} is {what}"))
}
