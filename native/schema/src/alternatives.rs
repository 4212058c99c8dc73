//! Faults of `anyOf` and `oneOf`: which alternative was meant, and what it lacks.

use jsonschema::{ValidationError, error::ValidationErrorKind, paths::Location};

use crate::{
    Fault,
    explain::{self, Context},
};

/// Faults of the nearest alternative that are told.
const SHOWN: usize = 3;
/// Alternatives that a merged fault lists.
const MAX_MERGED: usize = 10;
/// Alternatives inside alternatives that are still told.
const MAX_LEVEL: usize = 2;

/// The faults of each alternative.
type Branches = [Vec<ValidationError<'static>>];

/// Words `fault` by its alternatives: in one clause where each lacks one thing at the same place, else by
/// the one that comes nearest.
pub(crate) fn refine(
    context: &Context<'_>,
    fault: &mut Fault,
    error: &ValidationError<'_>,
    branches: &Branches,
    level: usize,
) {
    let place = error.instance_path();
    if let Some(merged) = merged(place, branches) {
        fault.expected = merged;
        if branches.iter().flatten().all(is_missing) {
            "required".clone_into(&mut fault.keyword);
        }
        return;
    }
    let Some((index, nearest)) = nearest(place, branches) else {
        return;
    };
    if level == MAX_LEVEL {
        return;
    }
    let told = nearest
        .iter()
        .take(SHOWN)
        .map(|error| context.fault(error, level + 1).to_string());
    let told: Vec<String> = told.collect();
    let rest = if nearest.len() > SHOWN {
        "; and more"
    } else {
        ""
    };
    fault.expected = format!(
        "{}, of which number {} is nearest ({}{rest})",
        any_of(branches),
        index + 1,
        told.join("; ")
    );
}

/// What the alternatives of `error` ask for, where the instance is not at hand.
pub(crate) fn expectation(error: &ValidationError<'_>, branches: &Branches) -> String {
    merged(error.instance_path(), branches).unwrap_or_else(|| any_of(branches))
}

fn any_of(branches: &Branches) -> String {
    format!("a match of one of {} alternatives", branches.len())
}

/// One clause for alternatives that each lack one thing at `place`, if they all do.
fn merged(place: &Location, branches: &Branches) -> Option<String> {
    if branches.is_empty() || branches.len() > MAX_MERGED {
        return None;
    }
    let missing = branches
        .iter()
        .flatten()
        .filter(|error| is_missing(error))
        .count();
    if missing > 0 && missing < branches.len() {
        return None;
    }
    let mut clauses = Vec::new();
    for branch in branches {
        let [error] = branch.as_slice() else {
            return None;
        };
        if error.instance_path() != place || !is_mergeable(error.kind()) {
            return None;
        }
        let clause = explain::expectation(error);
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    Some(clauses.join(" or "))
}

fn is_missing(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::Required { .. })
}

fn is_mergeable(kind: &ValidationErrorKind) -> bool {
    use ValidationErrorKind as Kind;
    !matches!(
        kind,
        Kind::AdditionalProperties { .. }
            | Kind::UnevaluatedProperties { .. }
            | Kind::PropertyNames { .. }
            | Kind::FalseSchema
    )
}

/// The alternative that was most likely meant, by its index: right type, then right constants, then
/// fewest faults.
fn nearest<'b>(
    place: &Location,
    branches: &'b Branches,
) -> Option<(usize, &'b Vec<ValidationError<'static>>)> {
    let distance = |branch: &Vec<ValidationError<'static>>| {
        let is_other_type = branch.iter().any(|error| {
            matches!(error.kind(), ValidationErrorKind::Type { .. })
                && error.instance_path() == place
        });
        let other_constants = branch
            .iter()
            .filter(|error| is_constant(error.kind()))
            .count();
        (is_other_type, other_constants, branch.len())
    };
    branches
        .iter()
        .enumerate()
        .min_by_key(|(_, branch)| distance(branch))
}

fn is_constant(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
    )
}
