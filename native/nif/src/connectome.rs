//! Connectomes: graphs of calls as terms and as resources, what is written of them and asked about them.
//!
//! Every function is on a dirty scheduler: graphs have no bound but their host's memory.

mod built;
mod diff;
mod federation;
mod given;
mod index;
mod label;
mod reach;
mod record;
mod refusal;
mod source;
mod words;

use mcp_canonical::Algorithm;
use mcp_connectome::{Form, NotXml, Version};
use rustler::{Atom, Encoder, Env, Term, types::atom};

use crate::{atoms, decode};
use given::Given;
use index::GraphIndex;
use refusal::Refused;
use source::Source;

/// `connectome_graph/1`: the nodes and edges in order.
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_graph<'a>(env: Env<'a>, graph: Term<'a>) -> Term<'a> {
    let checked = Given::read(graph).and_then(|given| Ok((given.graph()?, given)));
    match checked {
        Ok((graph, given)) => {
            let nodes = graph.nodes().iter().map(|node| given.node(node.place));
            let edges = graph.edges().iter().map(|edge| given.edge(edge.place));
            let (nodes, edges): (Vec<_>, Vec<_>) = (nodes.collect(), edges.collect());
            (atom::ok(), nodes, edges).encode(env)
        }
        Err(refused) => (atom::error(), refused.reason()).encode(env),
    }
}

/// `connectome_index/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_index<'a>(env: Env<'a>, graph: Term<'a>) -> Term<'a> {
    let index = Given::read(graph).and_then(|given| GraphIndex::new(&given));
    match index {
        Ok(index) => {
            let counts = (index.form().nodes.len(), index.form().edges.len());
            (atom::ok(), index, counts.0, counts.1).encode(env)
        }
        Err(refused) => refused.uncanonical(env),
    }
}

/// `connectome_encode/3`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_encode<'a>(
    env: Env<'a>,
    source: Term<'a>,
    version: Option<i64>,
    algorithm: Atom,
) -> Term<'a> {
    answer(env, source, |form| {
        let version = version
            .and_then(Version::from_number)
            .unwrap_or(form.version);
        let bytes = form.write(version, self::algorithm(env, algorithm), Vec::new());
        Ok(decode::binary(
            env,
            &bytes.map_err(|sign| Refused::sign(env, sign))?,
        ))
    })
}

/// `connectome_digest/3`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_digest<'a>(
    env: Env<'a>,
    source: Term<'a>,
    version: Option<i64>,
    algorithm: Atom,
) -> Term<'a> {
    answer(env, source, |form| {
        let version = version
            .and_then(Version::from_number)
            .unwrap_or(form.version);
        let digest = form.digest(version, self::algorithm(env, algorithm));
        Ok(digest.map_err(|sign| Refused::sign(env, sign))?.encode(env))
    })
}

/// `connectome_sidecar/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_sidecar<'a>(env: Env<'a>, source: Term<'a>) -> Term<'a> {
    answer(env, source, |form| Ok(decode::binary(env, &form.sidecar())))
}

/// `connectome_dot/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_dot<'a>(env: Env<'a>, source: Term<'a>) -> Term<'a> {
    answer(env, source, |form| {
        Ok(decode::binary(env, form.dot().as_bytes()))
    })
}

/// `connectome_graphml/1`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_graphml<'a>(env: Env<'a>, source: Term<'a>) -> Term<'a> {
    answer(env, source, |form| match form.graphml() {
        Ok(text) => Ok(decode::binary(env, text.as_bytes())),
        Err(NotXml { id, character }) => Err(Refused::Uncanonical(
            (atoms::not_xml(), id, u32::from(character)).encode(env),
        )),
    })
}

/// What `ask` says about the form of a source, or why it has none.
fn answer<'a>(
    env: Env<'a>,
    source: Term<'a>,
    ask: impl FnOnce(&Form) -> Result<Term<'a>, Refused<'a>>,
) -> Term<'a> {
    let answer = Source::read(source).and_then(|source| ask(source.form()));
    match answer {
        Ok(answer) => (atom::ok(), answer).encode(env),
        Err(refused) => refused.uncanonical(env),
    }
}

/// The digest of an atom that the BEAM has checked.
fn algorithm(env: Env<'_>, atom: Atom) -> Algorithm {
    let mut all = Algorithm::ALL.into_iter();
    let named = all.find(|algorithm| words::atom(env, algorithm.name()) == atom);
    named.unwrap_or_default()
}
