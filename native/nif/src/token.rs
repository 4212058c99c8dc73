//! The right to answer, as a term that one process holds.

use mcp_driver::Token;
use mcp_protocol::{Ask, Target};
use rustler::{LocalPid, Resource};

/// A token and what may be answered with it.
pub(crate) struct CallToken {
    pub(crate) token: Token<LocalPid>,
    pub(crate) asked: Asked,
    pub(crate) max_result_bytes: usize,
}

/// What kind of answer is awaited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asked {
    /// What a handler makes of a call.
    Call(Offer),
    /// A decision of `authorize` or `authorize_body`.
    Authorize,
    /// A session store's answer.
    Session,
    /// The caller's catalog.
    Catalog,
}

/// Dropping the last reference fails a call that was not answered; it only wakes the one who waits.
#[rustler::resource_impl]
impl Resource for CallToken {}

/// What kind of definition is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Offer {
    Tool,
    Resource,
    Prompt,
    Completion,
}

impl Offer {
    fn of(target: &Target) -> Self {
        match target {
            Target::Tool(_) => Self::Tool,
            Target::Resource(_) => Self::Resource,
            Target::Prompt(_) => Self::Prompt,
            Target::Completion(_) => Self::Completion,
        }
    }
}

impl Asked {
    /// `None` for what no process is asked.
    pub(crate) fn of(ask: &Ask) -> Option<Self> {
        match ask {
            Ask::Call(call) => Some(Self::Call(Offer::of(&call.target))),
            Ask::Authorize { .. } | Ask::AuthorizeBody { .. } => Some(Self::Authorize),
            Ask::Session(_) => Some(Self::Session),
            Ask::Catalog(_) => Some(Self::Catalog),
            Ask::Body { .. } | Ask::Cancel { .. } => None,
        }
    }
}
