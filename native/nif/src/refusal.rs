//! Why a term does not become JSON, or not here.

use rustler::{Encoder, Env, Term};

use crate::{atoms, fault::Fault};

/// Why a term was not written.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// More work than a normal scheduler has time for.
    Large,
    /// A struct is inside, which the BEAM has to turn into plain terms first.
    Prepare,
    /// The host's fault.
    Fault(Box<Located>),
}

/// A fault and where in the term it is.
#[derive(Debug)]
pub(crate) struct Located {
    fault: Fault,
    /// The innermost step first.
    path: Vec<String>,
}

impl Refusal {
    pub(crate) fn fault(fault: Fault) -> Self {
        Self::Fault(Box::new(Located {
            fault,
            path: Vec::new(),
        }))
    }

    /// For callers without a budget, whose terms hold no structs.
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Self::Fault(located) => located.to_fault(),
            Self::Large | Self::Prepare => Fault::new(
                atoms::unencodable(),
                "a struct is no JSON value; give a plain map",
            ),
        }
    }

    /// The same, one step further out.
    pub(crate) fn at(mut self, step: &str) -> Self {
        if let Self::Fault(located) = &mut self {
            located.path.push(step.to_owned());
        }
        self
    }
}

impl Encoder for Refusal {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Large => atoms::large().encode(env),
            Self::Prepare => atoms::prepare().encode(env),
            Self::Fault(located) => located.to_fault().encode(env),
        }
    }
}

impl Located {
    fn to_fault(&self) -> Fault {
        let steps = self
            .path
            .iter()
            .rev()
            .take(MAX_PATH_STEPS)
            .map(String::as_str);
        let path: String = steps.collect();
        let Fault { kind, detail } = &self.fault;
        Fault::new(*kind, format!("the value{path} {detail}"))
    }
}

/// Steps of a path that a fault names.
const MAX_PATH_STEPS: usize = 16;
