//! What a client without an access token is told to ask for (MCP 2026-07-28 basic/authorization, "Scope Selection Strategy"),
//! by what the headers of its request say that it wants. Nobody vouches for them: they choose among scopes of the
//! configuration, and among definitions whose needs whoever calls them is told.

use mcp_auth::{Clause, Decided, Operation, Scopes, decide};

use super::named::Named;
use crate::{
    config::Shared,
    head::{RequestHead, Single},
    http,
    method::Method,
};

impl Shared {
    /// The scopes for a challenge to suggest: what the method and the definition need that the headers name, what the method
    /// needs where the definition is none or not to be known, and what all methods need where no method is named.
    pub fn suggested(&self, head: &RequestHead) -> Clause {
        let gates = &self.config.scopes.gates;
        let Some(method) = method(head).filter(|method| self.offers(method.as_str())) else {
            return gates.basics(|method| self.offers(method));
        };
        let gate = gates.gate(Operation::Method(method.as_str()));
        let name = http::name(head);
        let named = name.and_then(|name| Named::by_name(method, name, &self.catalog));
        let Some(named) = named else {
            return gate.into_owned();
        };
        let usual = gates.denial(named.kind.user().as_str());
        match decide(&Scopes::default(), &gate, named.access, usual) {
            Decided::Challenge(wanted) => wanted,
            Decided::Permit | Decided::Unknown => gate.into_owned(),
        }
    }
}

fn method(head: &RequestHead) -> Option<Method> {
    match head.single("mcp-method") {
        Single::Value(value) => Method::parse(str::from_utf8(value).ok()?),
        Single::Absent | Single::Repeated => None,
    }
}
