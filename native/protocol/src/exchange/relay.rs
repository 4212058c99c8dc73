//! What becomes of a message for a call that is not on this node.

use std::sync::Arc;

use mcp_json::Document;

use super::{Exchange, Stage};
use crate::{
    question::{Ask, Scope},
    relay::Relay,
    step::Step,
};

impl Exchange {
    /// What other nodes are told of a message when no call here is meant; `None` where no other can be.
    pub(super) fn relay(&self, scope: &Scope, message: &Arc<Document>) -> Option<Relay> {
        match scope {
            Scope::Session(session) if self.shared.config.shared_sessions => Some(Relay {
                session: Arc::clone(session),
                message: Arc::clone(message),
            }),
            _ => None,
        }
    }

    /// No call here was meant: perhaps one elsewhere is. One that nobody has is ignored (CAN-4).
    pub(super) fn reached_nobody(&mut self, relay: Option<Relay>) -> Step {
        match relay {
            Some(relay) => self.ask(Stage::Relaying, Ask::Relay(relay)),
            None => self.accepted(),
        }
    }
}
