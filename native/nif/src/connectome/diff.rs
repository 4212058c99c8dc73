//! Differences as terms for people and as resources that are written.

use mcp_canonical::Algorithm;
use mcp_connectome::{Class, Compared, Diff, Effective, Form, Provenance, Side, Version};
use rustler::{Atom, Encoder, Env, Resource, ResourceArc, Term, types::atom};

use super::{algorithm, built::Builder, label::Label, refusal::Refused, source::Source, words};
use crate::{atoms, decode, workers};

/// A difference inside the native library.
pub(crate) struct HeldDiff(Option<Box<Diff>>);

/// `connectome_diff/3`: `{:ok, resource, classes, coverage}`, counted as a version counts.
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_diff<'a>(
    env: Env<'a>,
    declared: Term<'a>,
    observed: Term<'a>,
    version: i64,
) -> Term<'a> {
    let version = Version::from_number(version).unwrap_or(Version::V3);
    let answer = sides(env, declared, observed, |declared, observed| {
        let diff = Diff::new(declared, observed);
        let classes = classes(env, &diff);
        let counts = diff.coverage.counts(version);
        let counts = counts.map(|(name, count)| (words::atom(env, name), count));
        let counts: Vec<_> = counts.collect();
        let coverage = Term::map_from_pairs(env, &counts).expect("the keys differ");
        let held = ResourceArc::new(HeldDiff(Some(Box::new(diff))));
        (atom::ok(), held, classes, coverage).encode(env)
    });
    answer.unwrap_or_else(|refused| refused)
}

/// `connectome_diff_encode/4`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_diff_encode<'a>(
    env: Env<'a>,
    diff: ResourceArc<HeldDiff>,
    version: i64,
    named: Atom,
    window: Term<'a>,
) -> Term<'a> {
    let (version, algorithm) = names(env, version, named);
    let bytes = diff
        .held()
        .write(version, algorithm, Label(window), Vec::new());
    let bytes = bytes.map(|bytes| decode::binary(env, &bytes));
    bytes.map_or_else(
        |_| refused_window(env, window),
        |bytes| (atom::ok(), bytes).encode(env),
    )
}

/// `connectome_diff_digest/4`
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_diff_digest<'a>(
    env: Env<'a>,
    diff: ResourceArc<HeldDiff>,
    version: i64,
    named: Atom,
    window: Term<'a>,
) -> Term<'a> {
    let (version, algorithm) = names(env, version, named);
    let hasher = diff
        .held()
        .write(version, algorithm, Label(window), algorithm.hasher());
    hasher.map_or_else(
        |_| refused_window(env, window),
        |hasher| (atom::ok(), hasher.hexadecimal()).encode(env),
    )
}

/// `connectome_effective/2`: the declared graph with its weights, and the edges whose weight has no place.
#[rustler::nif(schedule = "DirtyCpu")]
fn connectome_effective<'a>(env: Env<'a>, declared: Term<'a>, observed: Term<'a>) -> Term<'a> {
    let answer = sides(env, declared, observed, |declared, observed| {
        let effective = Effective::new(declared, observed);
        let unplaced = Builder::of_form(env, observed.form());
        let unplaced: Vec<_> = effective
            .unplaced
            .iter()
            .map(|edge| unplaced.edge(edge))
            .collect();
        let form: Form = effective.form(declared.form());
        let graph = Builder::of_form(env, &form).graph(&form);
        (atom::ok(), graph, unplaced).encode(env)
    });
    answer.unwrap_or_else(|refused| refused)
}

/// What `ask` says about two graphs of one provenance each, or `{:error, {side, reason}}`.
fn sides<'a>(
    env: Env<'a>,
    declared: Term<'a>,
    observed: Term<'a>,
    ask: impl FnOnce(Side<'_>, Side<'_>) -> Term<'a>,
) -> Result<Term<'a>, Term<'a>> {
    let refused = |side: Atom, reason: Term<'a>| (atom::error(), (side, reason)).encode(env);
    let read = |source: Term<'a>, side: Atom| {
        let source = Source::read(source);
        source.map_err(|reason| refused(side, reason.of_side(env)))
    };
    let of = |source: &Source, provenance: Provenance, side: Atom| match Side::new(
        source.form(),
        provenance,
    ) {
        Ok(_) => Ok(()),
        Err(other) => {
            let other = words::atom(env, other.name());
            let reason = (atoms::invalid(), atoms::provenance(), other).encode(env);
            Err(refused(side, reason))
        }
    };
    let declared = read(declared, atoms::declared())?;
    of(&declared, Provenance::Declared, atoms::declared())?;
    let observed = read(observed, atoms::observed())?;
    of(&observed, Provenance::Observed, atoms::observed())?;
    let side = |source, provenance| Side::new(source, provenance).expect("checked above");
    Ok(ask(
        side(declared.form(), Provenance::Declared),
        side(observed.form(), Provenance::Observed),
    ))
}

fn classes<'a>(env: Env<'a>, diff: &Diff) -> Term<'a> {
    let builder = Builder::new(env, diff.ids.iter().map(|id| id.as_bytes()));
    let classes = diff.classes().map(|(name, members)| {
        let members: Vec<_> = members.map(|label| member(env, &builder, label)).collect();
        (words::atom(env, name), members)
    });
    let classes: Vec<_> = classes.collect();
    Term::map_from_pairs(env, &classes).expect("the keys differ")
}

fn member<'a>(env: Env<'a>, builder: &Builder<'a, '_>, label: &Compared) -> Term<'a> {
    let words = builder.words();
    let plain = [
        (atoms::from(), builder.id(label.from)),
        (atoms::kind(), words.edge_kinds.term(env, label.kind)),
        (atoms::to(), builder.id(label.to)),
    ];
    let Class::ChangedSign { declared, observed } = label.class else {
        return builder.map(&plain);
    };
    let [from, kind, to] = plain;
    let declared = (atoms::declared_sign(), words.signs.term(env, declared));
    let observed = (atoms::observed_sign(), words.signs.term(env, observed));
    builder.map(&[declared, from, kind, observed, to])
}

fn names(env: Env<'_>, version: i64, named: Atom) -> (Version, Algorithm) {
    let version = Version::from_number(version).unwrap_or(Version::V3);
    (version, version.algorithm(algorithm(env, named)))
}

fn refused_window<'a>(env: Env<'a>, window: Term<'a>) -> Term<'a> {
    Refused::value(env, atoms::window(), window).uncanonical(env)
}

impl HeldDiff {
    fn held(&self) -> &Diff {
        let held = self.0.as_ref();
        held.expect("the difference is taken out by the destructor alone")
    }
}

#[rustler::resource_impl]
impl Resource for HeldDiff {}

impl Drop for HeldDiff {
    fn drop(&mut self) {
        let held = self.0.take();
        workers::elsewhere(move || drop(held));
    }
}
