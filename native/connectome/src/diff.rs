//! The declared graph against the observed one: a set difference over labels, never isomorphism.

use mcp_canonical::{Algorithm, Sink, Uncanonical, Value, Writer};

use crate::label::{Aligned, Pair, Side};
use crate::{Coverage, EdgeKind, Sign, Version};

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

    /// The labels of each class, by the classes' names.
    pub fn classes(&self) -> impl Iterator<Item = (&'static str, impl Iterator<Item = &Compared>)> {
        let of = |at| move |label: &&Compared| label.class.place() == at;
        let named = Class::NAMES.into_iter().enumerate();
        named.map(move |(at, name)| (name, self.labels.iter().filter(of(at))))
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
        for (at, (name, members)) in self.classes().enumerate() {
            writer.raw(if at == 0 { "\"" } else { ",\"" });
            writer.raw(name);
            writer.raw("\":[");
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
        Self::NAMES[self.place()]
    }

    const fn place(self) -> usize {
        match self {
            Self::ChangedSign { .. } => 0,
            Self::DeclaredAndObserved => 1,
            Self::DeclaredNeverObserved => 2,
            Self::ObservedButUndeclared => 3,
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
