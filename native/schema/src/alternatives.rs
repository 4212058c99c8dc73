//! Faults of `anyOf` and `oneOf`: which alternative was meant, and what it lacks.

use jsonschema::{ValidationError, error::ValidationErrorKind, paths::Location};

use crate::explain;

/// Clauses that a merged fault lists.
const MAX_MERGED: usize = 10;

/// The faults of each alternative.
type Branches = [Vec<ValidationError<'static>>];

/// One fault to tell.
pub(crate) struct Told<'e> {
    pub(crate) error: &'e ValidationError<'e>,
    /// How many alternatives there are of which it concerns the nearest.
    pub(crate) nearest_of: Option<usize>,
}

/// What to tell of `errors`: where alternatives fail for different reasons, the faults of the nearest.
pub(crate) fn told<'e>(errors: &'e [ValidationError<'e>]) -> Vec<Told<'e>> {
    let mut told = Vec::new();
    let mut open: Vec<Told<'e>> = errors
        .iter()
        .rev()
        .map(|error| Told {
            error,
            nearest_of: None,
        })
        .collect();
    while let Some(next) = open.pop() {
        let place = next.error.instance_path();
        let branches =
            branches(next.error.kind()).filter(|branches| merged(place, branches).is_none());
        match branches.and_then(|branches| Some((branches.len(), nearest(place, branches)?))) {
            None => told.push(next),
            Some((count, nearest)) => open.extend(nearest.iter().rev().map(|error| Told {
                error,
                nearest_of: Some(count),
            })),
        }
    }
    told
}

/// What alternatives ask for together.
pub(crate) fn expectation(place: &Location, branches: &Branches) -> String {
    let any = || format!("a match of one of {} alternatives", branches.len());
    merged(place, branches).unwrap_or_else(any)
}

/// Whether all alternatives lack nothing but a property each.
pub(crate) fn is_missing(place: &Location, kind: &ValidationErrorKind) -> bool {
    let Some(branches) = branches(kind) else {
        return false;
    };
    branches.iter().flatten().all(is_required) && merged(place, branches).is_some()
}

fn branches(kind: &ValidationErrorKind) -> Option<&Branches> {
    match kind {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            Some(context)
        }
        _ => None,
    }
}

/// One clause for alternatives that each lack one thing at `place`, if they all do.
fn merged(place: &Location, branches: &Branches) -> Option<String> {
    let mut clauses = Vec::new();
    let mut missing = 0;
    for branch in branches {
        let [error] = branch.as_slice() else {
            return None;
        };
        if error.instance_path() != place || !is_mergeable(error.kind()) {
            return None;
        }
        missing += usize::from(is_required(error));
        let clause = explain::expectation(error);
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    let is_uniform = missing == 0 || missing == branches.len();
    (is_uniform && clauses.len() <= MAX_MERGED).then(|| clauses.join(" or "))
}

fn is_required(error: &ValidationError<'_>) -> bool {
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

/// The alternative that was most likely meant: of those for the type that came, the one with the fewest
/// wrong constants, then with the fewest faults.
fn nearest<'b>(place: &Location, branches: &'b Branches) -> Option<&'b [ValidationError<'static>]> {
    let is_other_type = |error: &ValidationError<'_>| {
        matches!(error.kind(), ValidationErrorKind::Type { .. }) && error.instance_path() == place
    };
    let candidates = branches
        .iter()
        .filter(|branch| !branch.iter().any(is_other_type));
    let nearest = candidates.min_by_key(|branch| {
        let constants = branch
            .iter()
            .filter(|error| is_constant(error.kind()))
            .count();
        (constants, branch.len())
    });
    nearest
        .map(Vec::as_slice)
        .filter(|branch| !branch.is_empty())
}

fn is_constant(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
    )
}
