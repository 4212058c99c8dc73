//! JSON values to terms, straight from the document: no value tree in between.

use std::borrow::Cow;

use bytes::Bytes;
use mcp_json::{Document, Kind, Limits, Node, Number};
use rustler::{BigInt, Binary, Encoder, Env, NewBinary, Term, types::atom};

use crate::{atoms, fault::Fault};

/// `decode/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn decode<'a>(env: Env<'a>, json: Binary<'a>) -> Term<'a> {
    match Document::parse(Bytes::copy_from_slice(&json), &CHECKED) {
        Ok(document) => (atom::ok(), Decoder::new(env).value(document.root())).encode(env),
        Err(error) => Fault::new(atoms::malformed(), error.to_string()).encode(env),
    }
}

/// Builds terms from the nodes of documents.
///
/// Objects become maps with binary keys, arrays lists, strings binaries, `null` becomes `nil`; integers are exact.
/// One pair of stacks serves every object of every value, so that their memory is allocated once.
pub(crate) struct Decoder<'a> {
    env: Env<'a>,
    keys: Vec<Term<'a>>,
    values: Vec<Term<'a>>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(env: Env<'a>) -> Self {
        Self {
            env,
            keys: Vec::with_capacity(16),
            values: Vec::with_capacity(16),
        }
    }

    pub(crate) fn env(&self) -> Env<'a> {
        self.env
    }

    /// The term of a value. Recurses as deep as the value is nested, which the document's limits bound.
    pub(crate) fn value(&mut self, node: Node<'_>) -> Term<'a> {
        let env = self.env;
        match node.kind() {
            Kind::Null => atom::nil().to_term(env),
            Kind::Bool => (node.raw() == "true").encode(env),
            Kind::Number => number(env, node),
            Kind::String => binary(env, node.as_str().unwrap_or_default().as_bytes()),
            Kind::Array => self.array(node),
            Kind::Object => self.object(node, binary_key),
        }
    }

    /// The map of an object whose keys `key` turns into terms.
    pub(crate) fn object(
        &mut self,
        node: Node<'_>,
        key: impl Fn(Env<'a>, &str) -> Term<'a>,
    ) -> Term<'a> {
        self.map(node.members(), key)
    }

    /// The map of some members of an object.
    pub(crate) fn members<'n>(
        &mut self,
        members: impl Iterator<Item = (Cow<'n, str>, Node<'n>)>,
    ) -> Term<'a> {
        self.map(members, binary_key)
    }

    fn map<'n>(
        &mut self,
        members: impl Iterator<Item = (Cow<'n, str>, Node<'n>)>,
        key: impl Fn(Env<'a>, &str) -> Term<'a>,
    ) -> Term<'a> {
        let (first_key, first_value) = (self.keys.len(), self.values.len());
        for (name, member) in members {
            let value = self.value(member);
            self.keys.push(key(self.env, &name));
            self.values.push(value);
        }
        let (keys, values) = (&self.keys[first_key..], &self.values[first_value..]);
        if keys.is_empty() {
            return Term::map_new(self.env);
        }
        let map = Term::map_from_term_arrays(self.env, keys, values)
            .expect("the parser refuses objects with equal keys");
        self.keys.truncate(first_key);
        self.values.truncate(first_value);
        map
    }

    fn array(&mut self, node: Node<'_>) -> Term<'a> {
        let start = self.values.len();
        for item in node.items() {
            let value = self.value(item);
            self.values.push(value);
        }
        let empty = Term::list_new_empty(self.env);
        self.values
            .drain(start..)
            .rev()
            .fold(empty, Term::list_prepend)
    }
}

/// The term of a JSON text that was checked before; `nil` for one that is no JSON.
pub(crate) fn text<'a>(env: Env<'a>, json: &str) -> Term<'a> {
    if json == "{}" {
        return Term::map_new(env);
    }
    match Document::parse(Bytes::copy_from_slice(json.as_bytes()), &CHECKED) {
        Ok(document) => Decoder::new(env).value(document.root()),
        Err(_) => atom::nil().to_term(env),
    }
}

/// A binary on the heap of the process, or shared where it is longer than 64 bytes.
pub(crate) fn binary<'a>(env: Env<'a>, bytes: &[u8]) -> Term<'a> {
    NewBinary::from_slice(env, bytes).into()
}

fn binary_key<'a>(env: Env<'a>, name: &str) -> Term<'a> {
    binary(env, name.as_bytes())
}

fn number<'a>(env: Env<'a>, node: Node<'_>) -> Term<'a> {
    match node.number() {
        Some(Number::Integer(integer)) => integer.encode(env),
        Some(Number::Float(float)) => float.encode(env),
        Some(Number::Big(digits)) => {
            let integer: BigInt = digits.parse().expect("the parser checked the digits");
            integer.encode(env)
        }
        None => atom::nil().to_term(env),
    }
}

/// Texts that were checked before: nested at most as deep as any instance or encoder allows.
pub(crate) const CHECKED: Limits = Limits {
    max_depth: 256,
    max_number_digits: usize::MAX,
};
