//! The static budget: what one instance value may cost, with references expanded.

use serde_json::Value;

use crate::{
    Dialect, Error, ErrorKind, Limits,
    document::Document,
    keyword::{Applies, Keyword},
};

/// Refuses a document of which some schema applies too much, or itself, to one instance value.
///
/// Schemas under `properties`, `items` and the like look at other values, so recursion through them is
/// free. Costs are remembered per subschema: the check is linear in the document.
pub(crate) fn check(document: &mut Document<'_>, limits: &Limits) -> Result<(), Error> {
    let mut uses = Vec::new();
    // Following a reference may add subschemas.
    while uses.len() < document.subschemas().len() {
        uses.push(Use::of(document, uses.len())?);
    }
    let mut ledger = Ledger {
        uses,
        marks: Vec::new(),
    };
    ledger.marks.resize(ledger.uses.len(), Mark::New);
    for number in 0..ledger.uses.len() {
        ledger.settle(number, document, limits)?;
    }
    Ok(())
}

/// What applying one subschema to a value does to that same value.
struct Use {
    /// Its own keywords that look at the value.
    evaluations: u64,
    /// Subschemas that it applies to the same value.
    inner: Vec<usize>,
    /// How often those run: each `unevaluated…` keyword runs them once more.
    passes: u64,
}

/// Cost and chain length of a subschema with all that it applies to the same value.
#[derive(Clone, Copy)]
struct Total {
    evaluations: u64,
    chain: usize,
}

#[derive(Clone, Copy)]
enum Mark {
    New,
    Open,
    Settled(Total),
}

struct Ledger {
    uses: Vec<Use>,
    marks: Vec<Mark>,
}

impl Use {
    fn of(document: &mut Document<'_>, number: usize) -> Result<Self, Error> {
        let mut summed = Self {
            evaluations: 1,
            inner: Vec::new(),
            passes: 1,
        };
        let subschema = &document.subschemas()[number];
        let Value::Object(members) = subschema.value else {
            return Ok(summed);
        };
        let pointer = subschema.pointer.clone();
        // Draft-07 §8.3: beside $ref, other keywords are ignored.
        let is_reference = document.dialect() == Dialect::Draft07 && members.contains_key("$ref");
        for (name, value) in members {
            let Some(keyword) = Keyword::find(name, document.dialect()) else {
                continue;
            };
            if keyword.applies == Applies::Nowhere || (is_reference && name != "$ref") {
                continue;
            }
            summed.evaluations += 1;
            summed.passes += u64::from(name.starts_with("unevaluated"));
            if let ("$ref" | "$dynamicRef", Value::String(reference)) = (name.as_str(), value) {
                summed
                    .inner
                    .extend(document.resolve(number, name, reference)?);
            } else if keyword.applies == Applies::Here {
                let subschemas = keyword.subschemas(&pointer, value).into_iter();
                summed
                    .inner
                    .extend(subschemas.filter_map(|(_, value)| document.number(value)));
            }
        }
        Ok(summed)
    }
}

impl Ledger {
    /// Settles `start` and everything it applies to the same value, innermost first.
    fn settle(
        &mut self,
        start: usize,
        document: &Document<'_>,
        limits: &Limits,
    ) -> Result<(), Error> {
        let mut path = vec![(start, 0)];
        while let Some((number, next)) = path.last_mut() {
            let pointer = &document.subschemas()[*number].pointer;
            if let Some(&inner) = self.uses[*number].inner.get(*next) {
                *next += 1;
                self.marks[*number] = Mark::Open;
                match self.marks[inner] {
                    Mark::New => path.push((inner, 0)),
                    Mark::Open => return Err(Error::new(pointer, ErrorKind::EndlessReference)),
                    Mark::Settled(_) => {}
                }
            } else {
                let total = self.total(*number);
                total
                    .check(limits)
                    .map_err(|kind| Error::new(pointer, kind))?;
                self.marks[*number] = Mark::Settled(total);
                path.pop();
            }
        }
        Ok(())
    }

    fn total(&self, number: usize) -> Total {
        let own = &self.uses[number];
        let mut inner = Total {
            evaluations: 0,
            chain: 0,
        };
        for &used in &own.inner {
            if let Mark::Settled(used) = self.marks[used] {
                inner.evaluations = inner.evaluations.saturating_add(used.evaluations);
                inner.chain = inner.chain.max(used.chain);
            }
        }
        let evaluations = inner
            .evaluations
            .saturating_mul(own.passes)
            .saturating_add(own.evaluations);
        Total {
            evaluations,
            chain: inner.chain + 1,
        }
    }
}

impl Total {
    fn check(self, limits: &Limits) -> Result<(), ErrorKind> {
        if self.evaluations > limits.max_cost {
            let (found, allowed) = (self.evaluations, limits.max_cost);
            return Err(ErrorKind::TooCostly { found, allowed });
        }
        if self.chain > limits.max_chain {
            let (found, allowed) = (self.chain, limits.max_chain);
            return Err(ErrorKind::ChainTooLong { found, allowed });
        }
        Ok(())
    }
}
