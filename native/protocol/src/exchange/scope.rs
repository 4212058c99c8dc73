//! Whether the caller was granted what an operation needs (MCP 2026-07-28 basic/authorization, "Scope Challenge
//! Handling"): decisions by scopes alone, and the challenges that follow.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use mcp_auth::{
    Challenge, Clause, Decided, Denial, Operation, Reason, Scope, Scopes, StepUp, Wanted, decide,
    union,
};
use mcp_json::{Kind, Node};

use super::{Exchange, Granted, Request, named::Named};
use crate::{
    change::{Filter, MAX_URIS},
    encode::Members,
    error::{Code, Error},
    http::Headers,
    method::Method,
    offer::OfferKind,
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// The refusal of a method whose gate the caller does not pass, whatever it is about.
    pub(super) fn check_scopes(
        &mut self,
        now: Now,
        method: Method,
        params: Option<Node<'_>>,
    ) -> Option<Step> {
        let granted = self.granted_scopes()?;
        let gate = with_operation(method, params, |operation| self.gate(operation));
        match decide(&granted, &gate, None, Denial::Challenge) {
            Decided::Challenge(wanted) => {
                self.note_operation(
                    now,
                    (method, params),
                    Some((word::SCOPE, Denial::Challenge)),
                );
                Some(self.challenge(&wanted))
            }
            Decided::Permit | Decided::Unknown => None,
        }
    }

    /// Decides over a request for a definition. A name that nothing has is unknown, as one that is hidden is: from here
    /// on the two go the same way.
    pub(super) fn judge(&self, request: &Request) -> Decided {
        let Some(granted) = self.granted_scopes() else {
            return Decided::Permit;
        };
        let (method, params) = (request.method, request.params());
        let gate = with_operation(method, params, |operation| self.gate(operation));
        if method == Method::Listen {
            return self.judge_subscription(&granted, gate.into_owned(), params);
        }
        let Some(named) = Named::find(method, params, self.catalog()) else {
            return decide(&granted, &gate, None, Denial::Challenge);
        };
        let denial = self.usual_denial(named.kind);
        match decide(&granted, &gate, named.access, denial) {
            Decided::Permit if named.access.is_none() => Decided::Unknown,
            decided => decided,
        }
    }

    /// What callers without the scopes of a definition are told that does not say.
    pub(super) fn usual_denial(&self, kind: OfferKind) -> Denial {
        let gates = &self.shared.config.scopes.gates;
        gates.denial(kind.user().as_str())
    }

    /// What of a filter the caller may hear of.
    pub(super) fn permitted_filter(&self, filter: Filter) -> Filter {
        let lists = filter.lists();
        let lists = lists.filter(|list| self.may_hear(list.filter_member()));
        let permitted = lists.fold(Filter::default(), Filter::with_list);
        match self.may_hear(RESOURCES) {
            true => permitted.with_uris(filter.uris),
            false => permitted,
        }
    }

    /// Whether the caller may hear of what a member of a filter asks for.
    pub(super) fn may_hear(&self, member: &str) -> bool {
        let gate = self.gate(Operation::Listen(&[member]));
        self.granted_scopes()
            .is_none_or(|granted| granted.hold(&gate))
    }

    /// What the caller was granted, with all that it stands for; none where nobody says.
    pub(super) fn granted_scopes(&self) -> Option<Arc<Scopes>> {
        let granted = self.identity.as_ref()?.scopes.as_ref()?;
        Some(self.shared.config.scopes.hierarchy.expand(granted))
    }

    /// 403 with every scope of the operation in one challenge (AUTH-14, AUTH-15).
    pub(super) fn challenge(&mut self, wanted: &[Scope]) -> Step {
        let wanted: Vec<&str> = wanted.iter().map(Scope::as_str).collect();
        let headers = self.challenge_headers(
            Reason::InsufficientScope,
            &Wanted {
                scope: Some(wanted.join(" ")),
                ..Wanted::default()
            },
        );
        let error = Error::new(Code::Forbidden, word::SCOPE, "Insufficient scope");
        let mut data = Vec::new();
        let mut members = Members::open(&mut data);
        members.strings("requiredScopes", &wanted);
        members.close();
        let data = String::from_utf8(data).expect("what is written is text");
        self.refuse_with(error.with_data(data), headers)
    }

    /// 401 with the sign-in that the operation needs (RFC 9470 §3).
    pub(super) fn challenge_sign_in(&mut self, step_up: &StepUp) -> Step {
        let headers = self.challenge_headers(Reason::StepUp, &step_up.wanted());
        let error = Error::new(Code::Unauthorized, word::STEP_UP, "Unauthorized");
        self.refuse_with(error, headers)
    }

    /// A subscription needs the scopes of every resource that it names and that says what it needs; one that is hidden
    /// is subscribed to as one that does not exist, and never heard of.
    fn judge_subscription(
        &self,
        granted: &Scopes,
        gate: Clause,
        params: Option<Node<'_>>,
    ) -> Decided {
        let filter = params.and_then(|params| params.get("notifications"));
        let uris = filter.and_then(|filter| filter.get(RESOURCES));
        let mut wanted = gate;
        let mut is_permitted = granted.hold(&wanted);
        let mut seen = BTreeSet::new();
        for uri in uris
            .into_iter()
            .flat_map(Node::items)
            .filter_map(Node::as_str)
        {
            if !seen.insert(uri.clone()) {
                continue;
            }
            // A subscription to so many is refused, whatever they are.
            if seen.len() > MAX_URIS {
                break;
            }
            let named = Named::resource(uri, self.catalog());
            let denial = self.usual_denial(named.kind);
            let lacking = named.access.filter(|access| !access.permits(granted));
            if let Some(access) = lacking
                && access.denial(denial) == Denial::Challenge
            {
                wanted = union(wanted.iter().chain(access.primary()));
                is_permitted = false;
            }
        }
        match is_permitted {
            true => Decided::Permit,
            false => Decided::Challenge(wanted),
        }
    }

    pub(super) fn gate(&self, operation: Operation<'_>) -> Cow<'_, [Scope]> {
        self.shared.config.scopes.gates.gate(operation)
    }

    fn challenge_headers(&self, reason: Reason, wanted: &Wanted) -> Headers {
        let mut headers = Headers::new();
        if let Some(Granted {
            resource, scheme, ..
        }) = &self.granted
        {
            let challenge = Challenge {
                config: resource,
                reason,
                scheme: *scheme,
                wanted,
            };
            let lines = challenge.lines().into_iter();
            headers.extend(lines.map(|line| ("www-authenticate", Cow::Owned(line))));
        }
        if !self.is_pipe() {
            headers.push(("cache-control", "no-store".into()));
        }
        headers
    }
}

/// What of a request its gate depends on.
pub(super) fn with_operation<T>(
    method: Method,
    params: Option<Node<'_>>,
    decide: impl FnOnce(Operation<'_>) -> T,
) -> T {
    let member = |name| params.and_then(|params| params.get(name));
    match method {
        Method::Complete => {
            let reference = member("ref").and_then(|reference| reference.get("type"));
            let reference = reference.and_then(Node::as_str).unwrap_or_default();
            decide(Operation::Complete(&reference))
        }
        Method::Listen => {
            let members = member("notifications").into_iter().flat_map(Node::members);
            let asked: Vec<_> = members.filter(|(_, value)| asks(*value)).collect();
            let names: Vec<&str> = asked.iter().map(|(name, _)| &**name).collect();
            decide(Operation::Listen(&names))
        }
        method => decide(Operation::Method(method.as_str())),
    }
}

/// `false` and `[]` ask for nothing.
fn asks(value: Node<'_>) -> bool {
    match value.kind() {
        Kind::Bool => value.raw() == "true",
        Kind::Array => value.len() > 0,
        _ => true,
    }
}

const RESOURCES: &str = "resourceSubscriptions";
