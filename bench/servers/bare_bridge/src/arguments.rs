//! JSON values as terms.

use rustler::{Encoder, Env, Term, types::atom};
use serde_json::{Map, Value};

/// The arguments of one call, made into a map with binary keys.
pub(crate) struct Arguments<'a>(pub(crate) &'a Value);

impl Encoder for Arguments<'_> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        value(env, self.0)
    }
}

fn object<'a>(env: Env<'a>, members: &Map<String, Value>) -> Term<'a> {
    let keys: Vec<Term> = members.keys().map(|key| key.encode(env)).collect();
    let values: Vec<Term> = members.values().map(|member| value(env, member)).collect();
    Term::map_from_term_arrays(env, &keys, &values).expect("keys of a JSON map are unique")
}

fn value<'a>(env: Env<'a>, json: &Value) -> Term<'a> {
    match json {
        Value::Null => atom::nil().encode(env),
        Value::Bool(flag) => flag.encode(env),
        Value::Number(number) => number
            .as_i64()
            .map(|integer| integer.encode(env))
            .or_else(|| number.as_u64().map(|integer| integer.encode(env)))
            .unwrap_or_else(|| number.as_f64().encode(env)),
        Value::String(text) => text.encode(env),
        Value::Array(items) => items
            .iter()
            .map(|item| value(env, item))
            .collect::<Vec<_>>()
            .encode(env),
        Value::Object(members) => object(env, members),
    }
}
