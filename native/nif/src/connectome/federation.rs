//! Federations as resources, with what people read of them as terms.

use bytes::Bytes;
use mcp_canonical::Algorithm;
use mcp_connectome::{Content, Envelope, Federation, Form, NodeField, RecordFault};
use rustler::{Atom, Binary, Encoder, Env, Resource, ResourceArc, Term, types::atom};

use super::{algorithm, label::bytes, record, source::Source, words};
use crate::{atoms, decode, workers};

/// A federation inside the native library.
pub(crate) struct HeldFederation(Option<Box<Federation>>);

/// `connectome_merge/1`: from `{member, source | bytes, algorithm}` to `{:ok, resource, parts, conflicts}`. Bytes name
/// their own digest.
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_merge<'a>(env: Env<'a>, parts: Vec<(Term<'a>, Term<'a>, Atom)>) -> Term<'a> {
    let mut read = Vec::with_capacity(parts.len());
    for (member, source, named) in parts {
        match part(env, source, algorithm(env, named)) {
            Ok((form, algorithm)) => {
                read.push((bytes(member).unwrap_or_default(), form, algorithm));
            }
            Err(reason) => return (atom::error(), (atoms::part(), member, reason)).encode(env),
        }
    }
    match Federation::new(read) {
        Ok(federation) => {
            let (parts, conflicts) = (parts_of(env, &federation), conflicts(env, &federation));
            let held = ResourceArc::new(HeldFederation(Some(Box::new(federation))));
            (atom::ok(), held, parts, conflicts).encode(env)
        }
        Err(fault) => (atom::error(), record::merge_reason(env, fault)).encode(env),
    }
}

/// `connectome_federation_encode/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_federation_encode(
    env: Env<'_>,
    federation: ResourceArc<HeldFederation>,
    named: Atom,
) -> Term<'_> {
    let bytes = federation.held().write(algorithm(env, named), Vec::new());
    decode::binary(env, &bytes)
}

/// `connectome_federation_digest/2`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_federation_digest(
    env: Env<'_>,
    federation: ResourceArc<HeldFederation>,
    named: Atom,
) -> Term<'_> {
    let digest = federation.held().digest(algorithm(env, named));
    digest.encode(env)
}

/// The form of a part, and the digest that its own bytes name.
fn part<'a>(
    env: Env<'a>,
    source: Term<'a>,
    algorithm: Algorithm,
) -> Result<(Form, Algorithm), Term<'a>> {
    let Ok(bytes) = source.decode::<Binary<'_>>() else {
        let source = Source::read(source).map_err(|refused| refused.of_side(env))?;
        return Ok((source.into_form(), algorithm));
    };
    let refused = |fault| record::reason(env, fault);
    let envelope = Envelope::read(Bytes::copy_from_slice(&bytes)).map_err(refused)?;
    match envelope.content().map_err(refused)? {
        Content::Graph(form) => Ok((form, envelope.algorithm())),
        Content::Federation(_) => Err(refused(RecordFault::Version("4".into()))),
    }
}

fn parts_of<'a>(env: Env<'a>, federation: &Federation) -> Vec<Term<'a>> {
    let part = |part: &mcp_connectome::Part| {
        let algorithm = words::atom(env, part.algorithm.name());
        let version = part.form.version.number();
        (&*part.member, version, algorithm, &part.digest).encode(env)
    };
    federation.parts().iter().map(part).collect()
}

/// `{edges, nodes}`, each conflict a tuple with its claims at the end.
fn conflicts<'a>(env: Env<'a>, federation: &Federation) -> Term<'a> {
    let word = |word| words::atom(env, word);
    let edges = federation.edge_conflicts();
    let edges = edges.iter().map(|conflict| {
        let claims = conflict.claims.iter().map(|claim| {
            let (provenance, sign) = claim.value;
            (claim.part, word(provenance.name()), word(sign.name()))
        });
        let claims: Vec<_> = claims.collect();
        (
            conflict.from,
            conflict.to,
            word(conflict.kind.name()),
            claims,
        )
            .encode(env)
    });
    let nodes = federation.node_conflicts();
    let nodes = nodes.iter().map(|conflict| {
        let claims = conflict.claims.iter();
        let claims = claims.map(|claim| (claim.part, decode::text(env, &claim.value)));
        let claims: Vec<_> = claims.collect();
        let field = match conflict.field {
            NodeField::Label(key) => (word("label"), key).encode(env),
            field => word(field.name()).to_term(env),
        };
        (conflict.id, field, claims).encode(env)
    });
    let (edges, nodes): (Vec<_>, Vec<_>) = (edges.collect(), nodes.collect());
    (edges, nodes).encode(env)
}

impl HeldFederation {
    fn held(&self) -> &Federation {
        let held = self.0.as_ref();
        held.expect("the federation is taken out by the destructor alone")
    }
}

#[rustler::resource_impl]
impl Resource for HeldFederation {}

impl Drop for HeldFederation {
    fn drop(&mut self) {
        let held = self.0.take();
        workers::elsewhere(move || drop(held));
    }
}
