//! The declared graph against the observed one: a set difference over labels, never isomorphism.

use mcp_canonical::{Algorithm, Sink, Uncanonical, Value, Writer};

use crate::label::{Aligned, Pair, Side};
use crate::{EdgeKind, Sign, Version};

/// Every label of two graphs in one class, and how much of the one the other covers.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The ids of both graphs by UTF-16 code units.
    pub ids: Vec<Box<str>>,
    /// The labels by from, to and kind.
    pub labels: Vec<Compared>,
    /// The counts.
    pub coverage: Coverage,
}

/// A label and its class. Its ends are positions among the ids.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Compared {
    /// The node that talks.
    pub from: u32,
    /// The node that is talked to.
    pub to: u32,
    /// How.
    pub kind: EdgeKind,
    /// What the comparison says.
    pub class: Class,
}

/// What the comparison of a label says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// In both, with a sign supplied on each side and the two different: drift.
    ChangedSign {
        /// The declared one.
        declared: Sign,
        /// The observed one.
        observed: Sign,
    },
    /// In both.
    DeclaredAndObserved,
    /// Declared alone: dead authority.
    DeclaredNeverObserved,
    /// Observed alone: drift.
    ObservedButUndeclared,
}

/// Counts, from which a reader makes shares.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Coverage([u64; COUNTS.len()]);

/// The counts by name; the two of one side's signs came with version 2.
pub const COUNTS: [&str; 10] = [
    "declared_and_observed",
    "declared_edges",
    "declared_endpoint_covered",
    "declared_nodes",
    "declared_sign_only",
    "nodes_in_both",
    "observed_edges",
    "observed_endpoint_declared",
    "observed_nodes",
    "observed_sign_only",
];

impl Diff {
    /// Compares two graphs, each of one provenance.
    pub fn new(declared: Side<'_>, observed: Side<'_>) -> Self {
        let aligned = Aligned::new(declared, observed);
        let signs = |pair: &Pair| [sign(declared, pair.declared), sign(observed, pair.observed)];
        let compared = |pair: &Pair| Compared {
            from: pair.label.0,
            to: pair.label.1,
            kind: pair.label.2,
            class: class(pair, signs(pair)),
        };
        Self {
            labels: aligned.labels.iter().map(compared).collect(),
            coverage: Coverage::of(&aligned, signs),
            ids: aligned.ids.into_iter().map(Box::from).collect(),
        }
    }

    /// Whether anything ran that was not declared, or two authorities disagree.
    pub fn drifts(&self) -> bool {
        let drift = |class| {
            matches!(
                class,
                Class::ObservedButUndeclared | Class::ChangedSign { .. }
            )
        };
        self.labels.iter().any(|label| drift(label.class))
    }

    /// The record's canonical bytes, into `sink`, which comes back. The window is the reader's own account of what the
    /// observation covers.
    ///
    /// # Errors
    ///
    /// A window without canonical bytes.
    pub fn write<'a, V: Value<'a>, S: Sink>(
        &self,
        version: Version,
        algorithm: Algorithm,
        window: V,
        sink: S,
    ) -> Result<S, Uncanonical> {
        let mut writer = Writer::new(sink);
        writer.raw("{");
        if version.names_algorithm() {
            writer.raw("\"algorithm\":\"");
            writer.raw(algorithm.name());
            writer.raw("\",");
        }
        writer.raw("\"classes\":{");
        self.write_classes(&mut writer);
        writer.raw("},\"coverage\":{");
        self.coverage.write(version, &mut writer);
        writer.raw("},\"schema_version\":");
        writer.integer(version.number());
        writer.raw(",\"window\":");
        writer.value(window)?;
        writer.raw("}");
        Ok(writer.finish())
    }

    fn write_classes<S: Sink>(&self, writer: &mut Writer<S>) {
        for (at, name) in Class::NAMES.into_iter().enumerate() {
            writer.raw(if at == 0 { "\"" } else { ",\"" });
            writer.raw(name);
            writer.raw("\":[");
            let members = self
                .labels
                .iter()
                .filter(|label| label.class.name() == name);
            for (at, label) in members.enumerate() {
                writer.raw(if at == 0 { "{" } else { ",{" });
                self.write_label(label, writer);
                writer.raw("}");
            }
            writer.raw("]");
        }
    }

    fn write_label<S: Sink>(&self, label: &Compared, writer: &mut Writer<S>) {
        let [declared, observed] = match label.class {
            Class::ChangedSign { declared, observed } => [Some(declared), Some(observed)],
            _ => [None, None],
        };
        if let Some(sign) = declared {
            writer.raw(format!("\"declared_sign\":\"{}\",", sign.name()));
        }
        writer.raw("\"from\":");
        writer.string(&self.ids[label.from as usize]);
        writer.raw(",\"kind\":\"");
        writer.raw(label.kind.name());
        writer.raw("\",");
        if let Some(sign) = observed {
            writer.raw(format!("\"observed_sign\":\"{}\",", sign.name()));
        }
        writer.raw("\"to\":");
        writer.string(&self.ids[label.to as usize]);
    }
}

impl Class {
    /// The names in the order in which they are written.
    pub const NAMES: [&'static str; 4] = [
        "changed_sign",
        "declared_and_observed",
        "declared_never_observed",
        "observed_but_undeclared",
    ];

    /// The name in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChangedSign { .. } => Self::NAMES[0],
            Self::DeclaredAndObserved => Self::NAMES[1],
            Self::DeclaredNeverObserved => Self::NAMES[2],
            Self::ObservedButUndeclared => Self::NAMES[3],
        }
    }
}

impl Coverage {
    fn of(aligned: &Aligned<'_>, signs: impl Fn(&Pair) -> [Option<Sign>; 2]) -> Self {
        let count = |admitted: &dyn Fn(&Pair) -> bool| {
            aligned.labels.iter().filter(|pair| admitted(pair)).count() as u64
        };
        let [declared, observed] = [&aligned.declared, &aligned.observed];
        let [is_declared, is_observed] =
            [declared, observed].map(|nodes| membership(aligned.ids.len(), nodes));
        let within = |nodes: &[bool], pair: &Pair| {
            nodes[pair.label.0 as usize] && nodes[pair.label.1 as usize]
        };
        let in_both = |pair: &Pair| pair.declared.is_some() && pair.observed.is_some();
        let signed = |pair: &Pair| signs(pair).map(|sign| sign.is_some());
        let nodes_in_both = observed.iter().filter(|node| is_declared[**node as usize]);
        Self([
            count(&in_both),
            count(&|pair| pair.declared.is_some()),
            count(&|pair| pair.declared.is_some() && within(&is_observed, pair)),
            declared.len() as u64,
            count(&|pair| in_both(pair) && signed(pair) == [true, false]),
            nodes_in_both.count() as u64,
            count(&|pair| pair.observed.is_some()),
            count(&|pair| pair.observed.is_some() && within(&is_declared, pair)),
            observed.len() as u64,
            count(&|pair| in_both(pair) && signed(pair) == [false, true]),
        ])
    }

    /// The counts that a version has, by name.
    pub fn counts(&self, version: Version) -> impl Iterator<Item = (&'static str, u64)> {
        let has = move |name: &str| version > Version::V1 || !name.ends_with("_sign_only");
        COUNTS
            .into_iter()
            .zip(self.0)
            .filter(move |(name, _)| has(name))
    }

    fn write<S: Sink>(&self, version: Version, writer: &mut Writer<S>) {
        for (at, (name, count)) in self.counts(version).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            writer.raw(format!("{comma}\"{name}\":{count}"));
        }
    }
}

/// The sign that somebody supplied for an edge of a side.
fn sign(side: Side<'_>, edge: Option<usize>) -> Option<Sign> {
    let form = side.form();
    let sign = form.edges[edge?].sign;
    (sign != form.version.neutral()).then_some(sign)
}

fn class(pair: &Pair, signs: [Option<Sign>; 2]) -> Class {
    match (pair.declared, pair.observed) {
        (Some(_), None) => Class::DeclaredNeverObserved,
        (None, _) => Class::ObservedButUndeclared,
        _ => match signs {
            [Some(declared), Some(observed)] if declared != observed => {
                Class::ChangedSign { declared, observed }
            }
            _ => Class::DeclaredAndObserved,
        },
    }
}

fn membership(ids: usize, nodes: &[u32]) -> Vec<bool> {
    let mut members = vec![false; ids];
    for node in nodes {
        members[*node as usize] = true;
    }
    members
}
