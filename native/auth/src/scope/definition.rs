//! What one tool, resource or prompt needs beyond its method's gate.

use std::{collections::HashSet, error, fmt};

use super::{Clause, Scope, Scopes};

/// Clauses of which one whole is enough; half of one and half of another is not.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Definition {
    /// The primary clause, then its alternatives; empty when nothing is needed.
    clauses: Vec<Clause>,
    /// None for what is usual of the method.
    denial: Option<Denial>,
}

/// What a caller without the scopes is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Denial {
    /// What it needs.
    Challenge,
    /// What it would be told of a name that does not exist.
    Neutral,
}

/// Why scopes of a definition are refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DefinitionError {
    /// Alternatives without a primary clause, or an empty one.
    EmptyClause,
    /// More alternatives than are looked at.
    TooManyAlternatives,
    /// More scopes in all clauses together.
    TooManyScopes,
    /// Longer scopes in all clauses together.
    TooLong,
    /// A scope that is none.
    Malformed(String),
    /// A scope twice in one clause.
    Repeated(String),
    /// Two clauses with the same scopes.
    SameClause,
}

impl Definition {
    /// Reads the clauses of a definition.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(
        required: &[String],
        alternatives: &[Vec<String>],
        denial: Option<Denial>,
    ) -> Result<Self, DefinitionError> {
        if required.is_empty() && alternatives.is_empty() {
            let clauses = Vec::new();
            return Ok(Self { clauses, denial });
        }
        if alternatives.len() > MAX_ALTERNATIVES {
            return Err(DefinitionError::TooManyAlternatives);
        }
        let texts = || {
            [required]
                .into_iter()
                .chain(alternatives.iter().map(|one| &**one))
        };
        if texts().any(<[String]>::is_empty) {
            return Err(DefinitionError::EmptyClause);
        }
        if texts().map(<[String]>::len).sum::<usize>() > MAX_SCOPES {
            return Err(DefinitionError::TooManyScopes);
        }
        if texts().flatten().map(String::len).sum::<usize>() > MAX_OCTETS {
            return Err(DefinitionError::TooLong);
        }
        let clauses = texts().map(clause).collect::<Result<Vec<_>, _>>()?;
        let sets: HashSet<Vec<&Scope>> = clauses.iter().map(|clause| sorted(clause)).collect();
        match sets.len() == clauses.len() {
            true => Ok(Self { clauses, denial }),
            false => Err(DefinitionError::SameClause),
        }
    }

    /// Whether one whole clause was granted.
    pub fn permits(&self, granted: &Scopes) -> bool {
        self.clauses.is_empty() || self.clauses.iter().any(|clause| granted.hold(clause))
    }

    /// Whether nothing is needed.
    pub fn is_open(&self) -> bool {
        self.clauses.is_empty()
    }

    /// What a challenge names.
    pub fn primary(&self) -> &[Scope] {
        self.clauses.first().map_or(&[], |clause| clause)
    }

    /// What a caller without the scopes is told, where it is `usual` to be told that.
    pub fn denial(&self, usual: Denial) -> Denial {
        self.denial.unwrap_or(usual)
    }
}

fn clause(texts: &[String]) -> Result<Clause, DefinitionError> {
    let mut clause = Clause::with_capacity(texts.len());
    for text in texts {
        let scope = Scope::parse(text)
            .filter(|_| text.len() <= MAX_SCOPE_OCTETS)
            .ok_or_else(|| DefinitionError::Malformed(text.chars().take(64).collect()))?;
        if clause.contains(&scope) {
            return Err(DefinitionError::Repeated(text.clone()));
        }
        clause.push(scope);
    }
    Ok(clause)
}

fn sorted(clause: &Clause) -> Vec<&Scope> {
    let mut sorted: Vec<&Scope> = clause.iter().collect();
    sorted.sort_unstable();
    sorted
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyClause => {
                out.write_str("a clause is empty, or alternatives have no primary clause")
            }
            Self::TooManyAlternatives => {
                write!(out, "there are more than {MAX_ALTERNATIVES} alternatives")
            }
            Self::TooManyScopes => write!(
                out,
                "the clauses have more than {MAX_SCOPES} scopes together"
            ),
            Self::TooLong => write!(
                out,
                "the clauses have more than {MAX_OCTETS} octets together"
            ),
            Self::Malformed(scope) => write!(
                out,
                "{scope:?} is no scope of at most {MAX_SCOPE_OCTETS} visible characters without quotation marks and backslashes"
            ),
            Self::Repeated(scope) => write!(out, "{scope:?} stands twice in one clause"),
            Self::SameClause => out.write_str("two clauses have the same scopes"),
        }
    }
}

impl error::Error for DefinitionError {}

const MAX_ALTERNATIVES: usize = 7;
const MAX_SCOPES: usize = 128;
const MAX_OCTETS: usize = 8_192;
const MAX_SCOPE_OCTETS: usize = 256;
