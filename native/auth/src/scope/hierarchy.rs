//! Scopes that stand for others (MCP 2026-07-28 basic/authorization, "Scope hierarchies").

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    error, fmt,
    sync::Arc,
};

use super::{Scope, Scopes};

/// Which scopes each scope stands for, those that they stand for in turn included.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    below: HashMap<Scope, Vec<Scope>>,
}

/// Why an `implies` option is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum HierarchyError {
    /// A scope that is none.
    Malformed(String),
    /// A scope that would stand for itself.
    Cycle(String),
    /// More entries than are followed.
    TooLarge,
}

impl Hierarchy {
    /// Closes `implies` over: what a scope stands for stands for more.
    ///
    /// # Errors
    /// When it goes round in a circle, is too large, or names what is no scope.
    pub fn new(implies: &BTreeMap<String, Vec<String>>) -> Result<Self, HierarchyError> {
        if implies.values().map(Vec::len).sum::<usize>() > MAX_EDGES {
            return Err(HierarchyError::TooLarge);
        }
        let parse = |text: &String| {
            Scope::parse(text)
                .ok_or_else(|| HierarchyError::Malformed(text.chars().take(64).collect()))
        };
        let mut edges: HashMap<Scope, Vec<Scope>> = HashMap::new();
        for (scope, below) in implies {
            let below = below.iter().map(parse).collect::<Result<_, _>>()?;
            edges.insert(parse(scope)?, below);
        }
        let below = edges
            .keys()
            .map(|scope| Ok((scope.clone(), reach(scope, &edges)?)))
            .collect::<Result<_, _>>()?;
        Ok(Self { below })
    }

    /// What was granted with all that it stands for; the same again where that is nothing more.
    pub fn expand(&self, granted: &Arc<Scopes>) -> Arc<Scopes> {
        if !granted.0.iter().any(|scope| self.below.contains_key(scope)) {
            return Arc::clone(granted);
        }
        let mut expanded = Scopes::clone(granted);
        for scope in granted.0.iter().filter_map(|scope| self.below.get(scope)) {
            scope.iter().cloned().for_each(|below| expanded.add(below));
        }
        Arc::new(expanded)
    }
}

/// Everything below `top`: each scope is visited once, so the work is at most one step an edge.
fn reach(top: &Scope, edges: &HashMap<Scope, Vec<Scope>>) -> Result<Vec<Scope>, HierarchyError> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut open = vec![top];
    while let Some(scope) = open.pop() {
        for below in edges.get(scope).into_iter().flatten() {
            if below == top {
                return Err(HierarchyError::Cycle(top.to_string()));
            }
            if seen.insert(below) {
                found.push(below.clone());
                open.push(below);
            }
        }
    }
    Ok(found)
}

impl fmt::Display for HierarchyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(scope) => write!(out, "{scope:?} is no scope"),
            Self::Cycle(scope) => write!(out, "{scope:?} implies itself"),
            Self::TooLarge => write!(out, "there are more than {MAX_EDGES} entries"),
        }
    }
}

impl error::Error for HierarchyError {}

const MAX_EDGES: usize = 1_024;
