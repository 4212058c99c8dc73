//! Whether a request may use the definition that it names: by scopes, then by what the host says of it. All of it before
//! anything else is looked at that belongs to the definition, so that nothing shows of one that is hidden.

use std::sync::Arc;

use mcp_auth::{Decided, Denial, StepUp};

use super::{Exchange, Request, Stage, named::Named};
use crate::{
    method::Method,
    offer::Permission,
    question::{Ask, PermitAsk},
    rates::Rated,
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// The one place where a request is permitted, challenged, or answered as if its definition did not exist.
    pub(super) fn admit(&mut self, now: Now, request: Request) -> Step {
        let hides = match self.judge(&request) {
            Decided::Challenge(wanted) => {
                self.note_refused(now, &request, word::SCOPE);
                return self.challenge(&wanted);
            }
            Decided::Unknown => true,
            Decided::Permit => false,
        };
        if let Some(refusal) = self.pace(now, Rated::by(request.method)) {
            self.note_limit(now, Some((request.method, request.params())), word::RATE);
            return refusal;
        }
        match self.permit_ask(now, &request) {
            Some(ask) => self.ask(Stage::Permitting(Box::new(request), hides), ask),
            None => self.enter(now, request, hides),
        }
    }

    /// The host said what it says of the definition. What scopes hide stays hidden, whatever that is.
    pub(super) fn permitted(
        &mut self,
        now: Now,
        request: Request,
        hides: bool,
        permission: &Permission,
    ) -> Step {
        match permission {
            Permission::StepUp(step_up) if !hides && !self.signed_in(step_up, now) => {
                self.note_refused(now, &request, word::STEP_UP);
                self.challenge_sign_in(step_up)
            }
            Permission::Permitted | Permission::StepUp(_) => self.enter(now, request, hides),
            Permission::Denied => self.enter(now, request, true),
        }
    }

    /// What is hidden is served from a catalog without it: that is how what does not exist is answered.
    fn enter(&mut self, now: Now, request: Request, hides: bool) -> Step {
        let hidden = hides.then_some((word::HIDDEN, Denial::Neutral));
        self.note_operation(now, (request.method, request.params()), hidden);
        if hides {
            self.own_catalog = Some(Arc::default());
        }
        if request.method != Method::ToolsCall
            && let Err(error) = request.check_optional_meta()
        {
            return self.refuse(error);
        }
        self.serve(now, request)
    }

    fn note_refused(&mut self, now: Now, request: &Request, reason: &'static str) {
        let refused = Some((reason, Denial::Challenge));
        self.note_operation(now, (request.method, request.params()), refused);
    }

    /// The visit to the host, where it has something to say. A name that nothing has makes the same.
    fn permit_ask(&self, now: Now, request: &Request) -> Option<Ask> {
        let policy = &self.shared.config.scopes;
        if !policy.authorizes_definitions && !policy.steps_up {
            return None;
        }
        let named = Named::find(request.method, request.params(), self.catalog())?;
        Some(Ask::Permit(Box::new(PermitAsk {
            context: self.context(now, request, self.shared.config.hook_timeout_ms),
            offer: named.offer(),
            steps_up: policy.steps_up,
        })))
    }

    /// Whether the caller's sign-in is what the host asks for; nobody knows without an access token.
    fn signed_in(&self, step_up: &StepUp, now: Now) -> bool {
        let Some(granted) = &self.granted else {
            return false;
        };
        let leeway_s = granted.resource.settings().leeway_s;
        step_up.is_met(&granted.sign_in, leeway_s, now.wall_ms as f64 / 1_000.0)
    }
}
