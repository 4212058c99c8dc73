//! Records of decisions over callers, where somebody keeps them.

use std::sync::Arc;

use mcp_auth::{Clause, Denial, Scope, union};
use mcp_json::Node;

use super::{Exchange, named::Named, scope::with_operation};
use crate::{
    method::Method,
    time::Now,
    verdict::{Stage, Verdict},
};

impl Exchange {
    /// The host's hook let the sender in, or not. What an access token comes to is told of by whoever checks it.
    pub(super) fn note_sender(&mut self, now: Now, reason: Option<&'static str>) {
        self.note(now, reason, Stage::Sender { duration_us: None });
    }

    /// The one place where a decision over an operation is told; it says nothing where nobody decides over any.
    pub(super) fn note_operation(
        &mut self,
        now: Now,
        (method, params): (Method, Option<Node<'_>>),
        refused: Option<(&'static str, Denial)>,
    ) {
        if !self.shared.config.tells_decisions {
            return;
        }
        let policy = &self.shared.config.scopes;
        let asks_host = policy.authorizes_definitions || policy.steps_up;
        let granted = self.granted_scopes();
        if granted.is_none() && !asks_host {
            return;
        }
        let gate = with_operation(method, params, |operation| self.gate(operation));
        let named = Named::find(method, params, self.catalog());
        let primary = named.as_ref().and_then(|named| named.access);
        let primary = primary.map_or(&[][..], mcp_auth::Definition::primary);
        let wanted = union(gate.iter().chain(primary));
        let lacks = |scope: &&Scope| {
            let granted = granted.as_ref();
            granted.is_some_and(|granted| !granted.hold(std::slice::from_ref(*scope)))
        };
        let stage = Stage::Operation {
            method: Some(method),
            definition: named.and_then(|named| named.declared().map(Arc::from)),
            missing: wanted.iter().filter(lacks).cloned().collect(),
            wanted,
            held: self.held(),
            denial: refused.map(|(_, denial)| denial),
        };
        self.note(now, refused.map(|(reason, _)| reason), stage);
    }

    /// A caller does more than one may, whatever its scopes are. The stream of a session has no operation.
    pub(super) fn note_limit(
        &mut self,
        now: Now,
        operation: Option<(Method, Option<Node<'_>>)>,
        reason: &'static str,
    ) {
        if !self.shared.config.tells_decisions {
            return;
        }
        let named =
            operation.and_then(|(method, params)| Named::find(method, params, self.catalog()));
        let definition = named.and_then(|named| named.declared().map(Arc::from));
        self.note_limited(now, operation.map(|(method, _)| method), definition, reason);
    }

    /// The same, of a definition that was looked up.
    pub(super) fn note_limited(
        &mut self,
        now: Now,
        method: Option<Method>,
        definition: Option<Arc<str>>,
        reason: &'static str,
    ) {
        let stage = Stage::Operation {
            method,
            definition,
            wanted: Clause::new(),
            missing: Clause::new(),
            held: self.held(),
            denial: None,
        };
        self.note(now, Some(reason), stage);
    }

    /// How many scopes the caller has.
    fn held(&self) -> usize {
        let identity = self.identity.as_ref();
        let scopes = identity.and_then(|identity| identity.scopes.as_ref());
        scopes.map_or(0, |scopes| scopes.len())
    }

    fn note(&mut self, now: Now, reason: Option<&'static str>, stage: Stage) {
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
            stage,
        });
    }
}
