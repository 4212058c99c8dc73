//! Whether the caller was granted what a method needs (MCP 2026-07-28 basic/authorization, "Scope Challenge Handling").

use std::borrow::Cow;

use mcp_auth::{Challenge, Clause, Decided, Operation, Reason, Scope, Scopes, Wanted, decide};
use mcp_json::{Kind, Node};

use super::{Exchange, Granted};
use crate::{
    change::Filter,
    encode::Members,
    error::{Code, Error},
    http::Headers,
    method::Method,
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// The refusal of a method whose gate the caller does not pass.
    pub(super) fn check_scopes(
        &mut self,
        now: Now,
        method: Method,
        params: Option<Node<'_>>,
    ) -> Option<Step> {
        let granted = self.granted_scopes()?;
        let gate = with_operation(method, params, |operation| self.gate(operation));
        let decided = decide(&granted, &gate, None);
        let reason = (decided != Decided::Permit).then_some(word::SCOPE);
        self.note_operation(now, method, &decided, (&granted, &gate), reason);
        match decided {
            Decided::Challenge(wanted) => Some(self.challenge(&wanted)),
            Decided::Permit | Decided::Unknown => None,
        }
    }

    /// What of a filter the caller may hear of.
    pub(super) fn permitted(&self, filter: Filter) -> Filter {
        let Some(granted) = self.granted_scopes() else {
            return filter;
        };
        let may_hear = |member| granted.hold(&self.gate(Operation::Listen(&[member])));
        let lists = filter.lists().filter(|list| may_hear(list.filter_member()));
        let permitted = lists.fold(Filter::default(), Filter::with_list);
        match may_hear(RESOURCES) {
            true => permitted.with_uris(filter.uris),
            false => permitted,
        }
    }

    /// What the caller was granted, with all that it stands for; none where nobody says.
    fn granted_scopes(&self) -> Option<Scopes> {
        let granted = self.identity.as_ref()?.scopes.as_ref()?;
        Some(self.shared.config.scopes.hierarchy.expand(granted))
    }

    fn gate(&self, operation: Operation<'_>) -> Clause {
        self.shared.config.scopes.gates.gate(operation)
    }

    /// 403 with every scope of the operation in one challenge (AUTH-14, AUTH-15).
    fn challenge(&mut self, wanted: &[Scope]) -> Step {
        let wanted: Vec<&str> = wanted.iter().map(Scope::as_str).collect();
        let mut headers = Headers::new();
        if let Some(Granted {
            resource, scheme, ..
        }) = &self.granted
        {
            let challenge = Challenge {
                config: resource,
                reason: Reason::InsufficientScope,
                scheme: *scheme,
                wanted: &Wanted {
                    scope: Some(wanted.join(" ")),
                    ..Wanted::default()
                },
            };
            let lines = challenge.lines().into_iter();
            headers.extend(lines.map(|line| ("www-authenticate", Cow::Owned(line))));
        }
        if !self.is_pipe() {
            headers.push(("cache-control", "no-store".into()));
        }
        let error = Error::new(Code::Forbidden, word::SCOPE, "Insufficient scope");
        let mut data = Vec::new();
        let mut members = Members::open(&mut data);
        members.strings("requiredScopes", &wanted);
        members.close();
        let data = String::from_utf8(data).expect("what is written is text");
        self.refuse_with(error.with_data(data), headers)
    }
}

/// What of a request its gate depends on.
fn with_operation<T>(
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
