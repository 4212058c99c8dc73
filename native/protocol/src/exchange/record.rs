//! Records of decisions over callers, where somebody keeps them.

use mcp_auth::{Decided, Denial, Scopes};

use super::Exchange;
use crate::{
    method::Method,
    time::Now,
    verdict::{Stage, Verdict},
};

impl Exchange {
    /// The host's hook let the sender in, or not. What an access token comes to is told of by whoever checks it.
    pub(super) fn note_sender(&mut self, now: Now, reason: Option<&'static str>) {
        self.note(now, reason, || Stage::Sender { duration_us: None });
    }

    /// The one place where a decision over an operation is told: `granted` is what the caller holds, with all that it
    /// stands for, `wanted` what the operation takes.
    pub(super) fn note_operation(
        &mut self,
        now: Now,
        method: Method,
        decided: &Decided,
        (granted, wanted): (&Scopes, &[mcp_auth::Scope]),
        reason: Option<&'static str>,
    ) {
        let identity = self.identity.as_ref();
        let scopes = identity.and_then(|identity| identity.scopes.as_ref());
        let held = scopes.map_or(0, |scopes| scopes.len());
        let definition = self.summary.definition.clone();
        let is_missing = |scope: &&mcp_auth::Scope| !granted.hold(std::slice::from_ref(*scope));
        self.note(now, reason, || Stage::Operation {
            method,
            definition,
            wanted: wanted.to_vec(),
            missing: wanted.iter().filter(is_missing).cloned().collect(),
            held,
            denial: match decided {
                Decided::Permit => None,
                Decided::Challenge(_) => Some(Denial::Challenge),
                Decided::Unknown => Some(Denial::Neutral),
            },
        });
    }

    fn note(&mut self, now: Now, reason: Option<&'static str>, stage: impl FnOnce() -> Stage) {
        if !self.shared.config.tells_decisions {
            return;
        }
        let granted = self.granted.as_ref();
        let token = granted.and_then(|granted| granted.token.clone());
        self.verdicts.push(Verdict {
            at_ms: now.wall_ms,
            reason,
            principal: self.principal().cloned(),
            token,
            stage: stage(),
        });
    }
}
