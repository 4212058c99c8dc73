//! What was decided over a caller, for whoever keeps records: never a token, a claim or an argument.

use std::{fmt, sync::Arc};

use mcp_auth::{Binding, Clause, Denial, Verified};

use crate::{method::Method, principal::Principal};

/// One decision.
#[derive(Clone)]
pub struct Verdict {
    /// When, in milliseconds of the Unix epoch.
    pub at_ms: u64,
    /// Why the caller was refused, in a word of a fixed list; none for one who was not.
    pub reason: Option<&'static str>,
    /// Who calls, as far as that is known.
    pub principal: Option<Principal>,
    /// What an access token said that was found right, and what ties it to its sender.
    pub token: Option<(Verified, Binding)>,
    /// What was decided over.
    pub stage: Stage,
}

/// What was decided over.
#[derive(Clone, Debug)]
pub enum Stage {
    /// Whether the sender of a request may come in.
    Sender {
        /// How long that took with all questions to others, where an access token was to be checked.
        duration_us: Option<u64>,
    },
    /// Whether a sender who came in may do what it asks for.
    Operation {
        /// What it asks for; none where it opens the stream of a session.
        method: Option<Method>,
        /// On what, once that was found in the catalog.
        definition: Option<Arc<str>>,
        /// The scopes that it takes.
        wanted: Clause,
        /// Those of them that were not granted.
        missing: Clause,
        /// How many were granted.
        held: usize,
        /// How a caller is answered whom scopes or the host refuse; none of one who is over a limit.
        denial: Option<Denial>,
    },
}

/// Shows the decision: callers are personal data.
impl fmt::Debug for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Verdict")
            .field("reason", &self.reason)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}
