//! Terms as values with canonical bytes.

use std::borrow::Cow;

use mcp_canonical::{Key, Shape, Value};
use rustler::{BigInt, Binary, MapIterator, Term, TermType, types::atom};

use crate::{
    atoms,
    writer::{MAX_INTEGER_BYTES, atom_text},
};

/// A term where the grammar of labels applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label<'a>(pub(super) Term<'a>);

impl<'a> Value<'a> for Label<'a> {
    fn shape(self) -> Shape<'a, Self> {
        match self.0.get_type() {
            TermType::Atom => of_atom(self.0),
            TermType::Binary => bytes(self.0).map_or(Shape::Other, |text| Shape::Text(text.into())),
            TermType::Integer => of_integer(self.0),
            TermType::List => of_list(self.0),
            TermType::Map => of_map(self.0),
            _ => Shape::Other,
        }
    }
}

fn of_atom(term: Term<'_>) -> Shape<'_, Label<'_>> {
    if atom::nil() == term {
        Shape::Null
    } else if let Ok(boolean) = term.decode() {
        Shape::Bool(boolean)
    } else {
        Shape::Text(Cow::Owned(atom_text(term).into_bytes()))
    }
}

fn of_integer(term: Term<'_>) -> Shape<'_, Label<'_>> {
    if let Ok(integer) = term.decode() {
        return Shape::Integer(integer);
    }
    digits(term).map_or(Shape::Other, |digits| Shape::Big(digits.into()))
}

fn of_list(term: Term<'_>) -> Shape<'_, Label<'_>> {
    let (mut items, mut rest) = (Vec::new(), term);
    while let Ok((item, tail)) = rest.list_get_cell() {
        items.push(Label(item));
        rest = tail;
    }
    if rest.is_empty_list() {
        Shape::Array(items)
    } else {
        Shape::Other
    }
}

fn of_map(term: Term<'_>) -> Shape<'_, Label<'_>> {
    if term.map_get(atoms::struct_key()).is_ok() {
        return Shape::Other;
    }
    let members = MapIterator::new(term).expect("the VM says that the term is a map");
    let mut members: Vec<_> = members.collect();
    // Since OTP 26 a map has its atoms in an order of the VM's own.
    members.sort_by_key(|(left, _)| *left);
    let member = |(key, member)| (of_key(key), Label(member));
    Shape::Object(members.into_iter().map(member).collect())
}

fn of_key(term: Term<'_>) -> Key<'_, Label<'_>> {
    let text = match term.get_type() {
        TermType::Atom if !is_literal(term) => Some(Cow::Owned(atom_text(term).into_bytes())),
        TermType::Binary => bytes(term).map(Cow::Borrowed),
        _ => None,
    };
    text.map_or(Key::Other(Label(term)), Key::Text)
}

/// Atoms that JSON has a literal of its own for, which is no key.
fn is_literal(term: Term<'_>) -> bool {
    atom::nil() == term || term.decode::<bool>().is_ok()
}

/// The bytes of a binary; none for a bitstring.
pub(super) fn bytes(term: Term<'_>) -> Option<&[u8]> {
    Binary::from_term(term).ok().map(|binary| binary.as_slice())
}

/// The decimal text of an integer beyond 64 bits; none where writing it would take seconds.
pub(super) fn digits(term: Term<'_>) -> Option<String> {
    if term.to_binary().len() > MAX_INTEGER_BYTES {
        return None;
    }
    let integer: BigInt = term.decode().ok()?;
    Some(integer.to_string())
}
