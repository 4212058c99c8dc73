//! Canonical bytes that are checked or read, and values that are written on their own.

use bytes::Bytes;
use mcp_canonical::{Sink, Writer};
use mcp_connectome::{Content, Envelope, MergeFault, RecordFault, Schema};
use rustler::{Atom, Binary, Encoder, Env, Term, types::atom};

use super::{algorithm, built::Builder, label::Label, refusal::Refused, words};
use crate::{atoms, decode};

/// `connectome_verify/2`: `{:ok, version, algorithm, digest}`. The digest is compared first, since a record
/// may be refused and have its digest all the same.
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_verify<'a>(env: Env<'a>, bytes: Binary<'a>, expected: Option<String>) -> Term<'a> {
    let envelope = match Envelope::read(Bytes::copy_from_slice(&bytes)) {
        Ok(envelope) => envelope,
        Err(fault) => return refused(env, fault),
    };
    let digest = envelope.digest();
    if expected.is_some_and(|expected| expected != digest) {
        return (atom::error(), (atoms::digest_mismatch(), digest)).encode(env);
    }
    let version = match envelope.schema() {
        Schema::Graph(version) => version.number(),
        Schema::Federation => 4,
    };
    match envelope.content() {
        Ok(_) => {
            let named = words::atom(env, envelope.algorithm().name());
            (atom::ok(), version, named, digest).encode(env)
        }
        Err(fault) => refused(env, fault),
    }
}

/// `connectome_decode/1`: `{:ok, graph}`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_decode<'a>(env: Env<'a>, bytes: Binary<'a>) -> Term<'a> {
    let envelope = Envelope::read(Bytes::copy_from_slice(&bytes));
    match envelope.and_then(|envelope| envelope.content()) {
        Ok(Content::Graph(form)) => {
            (atom::ok(), Builder::of_form(env, &form).graph(&form)).encode(env)
        }
        Ok(Content::Federation(_)) => refused(env, RecordFault::Version("4".into())),
        Err(fault) => refused(env, fault),
    }
}

/// `connectome_encode_value/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_encode_value<'a>(env: Env<'a>, value: Term<'a>) -> Term<'a> {
    written(env, value, Vec::new(), |bytes| decode::binary(env, &bytes))
}

/// `connectome_digest_value/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_digest_value<'a>(env: Env<'a>, value: Term<'a>, named: Atom) -> Term<'a> {
    let hasher = algorithm(env, named).hasher();
    written(env, value, hasher, |hasher| {
        hasher.hexadecimal().encode(env)
    })
}

fn written<'a, S: Sink>(
    env: Env<'a>,
    value: Term<'a>,
    sink: S,
    term: impl FnOnce(S) -> Term<'a>,
) -> Term<'a> {
    let mut writer = Writer::new(sink);
    match writer.value(Label(value)) {
        Ok(()) => (atom::ok(), term(writer.finish())).encode(env),
        Err(_) => Refused::value(env, atoms::record(), value).uncanonical(env),
    }
}

/// `{:error, reason}`
fn refused(env: Env<'_>, fault: RecordFault) -> Term<'_> {
    let error = |reason: Term<'_>| (atom::error(), reason).encode(env);
    let graph = |reason| Refused::Graph(reason).uncanonical(env);
    match fault {
        RecordFault::Malformed(text) => error((atoms::malformed(), text).encode(env)),
        RecordFault::Version(json) => {
            let version = decode::text(env, &json);
            error((atoms::invalid(), atoms::schema_version(), version).encode(env))
        }
        RecordFault::Field { name, value } => {
            let name = words::atom(env, name);
            Refused::invalid(name, decode::text(env, &value)).uncanonical(env)
        }
        RecordFault::DuplicateNode(id) => graph((atoms::duplicate_node(), id).encode(env)),
        RecordFault::DanglingEdge(id) => graph((atoms::dangling_edge(), id).encode(env)),
        RecordFault::DuplicateEdge {
            from,
            to,
            kind,
            provenance,
        } => {
            let [kind, provenance] =
                [kind.name(), provenance.name()].map(|word| words::atom(env, word));
            graph((atoms::duplicate_edge(), (from, to, kind, provenance)).encode(env))
        }
        RecordFault::Form(refusal) => {
            let refusal = refusal.map(|json| decode::text(env, &json));
            Refused::form(env, refusal).uncanonical(env)
        }
        RecordFault::PartDigest { member, digest } => {
            error((atoms::part_digest(), member, digest).encode(env))
        }
        RecordFault::Merge(fault) => error(merge_reason(env, fault)),
        RecordFault::NotCanonical(offset) => error((atoms::not_canonical(), offset).encode(env)),
    }
}

/// Why parts make no federation.
pub(super) fn merge_reason(env: Env<'_>, fault: MergeFault) -> Term<'_> {
    match fault {
        MergeFault::Member(name) => (
            atoms::invalid(),
            atoms::member(),
            decode::binary(env, &name),
        )
            .encode(env),
        MergeFault::DuplicatePart(member) => (atoms::duplicate_part(), member).encode(env),
    }
}

/// The reason alone.
pub(super) fn reason(env: Env<'_>, fault: RecordFault) -> Term<'_> {
    let error = refused(env, fault);
    let (_, reason): (Atom, Term<'_>) = error.decode().expect("a refusal is a pair");
    reason
}
