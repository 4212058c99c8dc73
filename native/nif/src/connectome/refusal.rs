//! Refusals as terms; their names are stable.

use mcp_connectome::{GraphFault, NoSuchSign, Refusal};
use rustler::{Atom, Encoder, Env, Term, types::atom};

use super::{given::field, words};
use crate::{atoms, decode};

/// Why a term is no graph, or a graph has no canonical bytes.
pub(super) enum Refused<'a> {
    /// A fault of the graph.
    Graph(Term<'a>),
    /// A graph that could be, without bytes.
    Uncanonical(Term<'a>),
    /// A question that the graph has no answer to.
    Query(Term<'a>),
}

impl<'a> Refused<'a> {
    /// `{:invalid, field, value}`
    pub(super) fn invalid(field: Atom, value: Term<'a>) -> Self {
        Self::Graph((atoms::invalid(), field, value).encode(value.get_env()))
    }

    /// A fault between the parts of `graph`, where `edge` has the edge at a place.
    pub(super) fn graph(
        graph: Term<'a>,
        fault: GraphFault,
        edge: impl Fn(u32) -> Term<'a>,
    ) -> Self {
        let env = graph.get_env();
        let bytes = |id: &[u8]| decode::binary(env, id);
        Self::Graph(match fault {
            GraphFault::DuplicateNode(id) => (atoms::duplicate_node(), bytes(&id)).encode(env),
            GraphFault::DanglingEdge(id) => (atoms::dangling_edge(), bytes(&id)).encode(env),
            GraphFault::DuplicateEdge(place) => {
                let key = [
                    atoms::from(),
                    atoms::to(),
                    atoms::kind(),
                    atoms::provenance(),
                ];
                let [from, to, kind, provenance] = key.map(|name| field(edge(place), name));
                (atoms::duplicate_edge(), (from, to, kind, provenance)).encode(env)
            }
        })
    }

    /// A sign that the version asked for lacks.
    pub(super) fn sign(env: Env<'a>, NoSuchSign(sign): NoSuchSign) -> Self {
        Self::invalid(atoms::sign(), words::atom(env, sign.name()).to_term(env))
    }

    /// Why a graph has no form.
    pub(super) fn form(env: Env<'a>, refusal: Refusal<Term<'a>>) -> Self {
        let bytes = |text: &[u8]| decode::binary(env, text);
        let text = |text: &str| bytes(text.as_bytes());
        let invalid_utf8 = |id, field: Term<'a>| (atoms::invalid_utf8(), id, field).encode(env);
        Self::Uncanonical(match refusal {
            Refusal::DuplicateId(id) => (atoms::duplicate_id_after_nfc(), text(&id)).encode(env),
            Refusal::IdNotUtf8(id) => invalid_utf8(bytes(&id), atoms::id().to_term(env)),
            Refusal::KeyNotUtf8 { id, key } => invalid_utf8(text(&id), bytes(&key)),
            Refusal::TextNotUtf8 { id, label } => invalid_utf8(text(&id), text(&label)),
            Refusal::LabelKey { id, key } => (atoms::label_key(), text(&id), key).encode(env),
            Refusal::DuplicateLabelKey { id, key } => {
                (atoms::duplicate_label_key(), text(&id), text(&key)).encode(env)
            }
            Refusal::LabelValue { id, label, value } => {
                (atoms::label_value(), text(&id), text(&label), value).encode(env)
            }
        })
    }

    /// A value on its own without bytes, where a record has it as a field.
    pub(super) fn value(env: Env<'a>, field: Atom, value: Term<'a>) -> Self {
        let record = decode::binary(env, b"record");
        Self::Uncanonical((atoms::label_value(), record, field, value).encode(env))
    }

    /// The reason where a graph was asked for.
    pub(super) fn reason(self) -> Term<'a> {
        match self {
            Self::Graph(reason) | Self::Uncanonical(reason) | Self::Query(reason) => reason,
        }
    }

    /// `{:error, {:uncanonical, reason}}` where bytes were asked for.
    pub(super) fn uncanonical(self, env: Env<'a>) -> Term<'a> {
        let reason = match self {
            Self::Graph(reason) => (atoms::invalid_graph(), reason).encode(env),
            other => other.reason(),
        };
        (atom::error(), (atoms::uncanonical(), reason)).encode(env)
    }

    /// The reason where one side of a comparison was asked for.
    pub(super) fn of_side(self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Uncanonical(reason) => (atoms::uncanonical(), reason).encode(env),
            other => other.reason(),
        }
    }

    /// `{:error, reason}` where something was asked of a graph.
    pub(super) fn of_query(self, env: Env<'a>) -> Term<'a> {
        let reason = match self {
            Self::Graph(reason) => (atoms::invalid_graph(), reason).encode(env),
            other => other.reason(),
        };
        (atom::error(), reason).encode(env)
    }
}
