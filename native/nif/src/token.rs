//! The right to answer, as a term that one process holds.

use mcp_driver::Token;
use mcp_protocol::{CallOutcome, Input, Place, Target};
use rustler::{LocalPid, Resource};

/// A token and what may be answered with it.
pub(crate) struct CallToken {
    /// Dropped before the token, whose drop fails the call.
    pub(crate) asked: Asked,
    pub(crate) token: Token<LocalPid>,
    pub(crate) max_result_bytes: usize,
}

/// What kind of answer is awaited.
pub(crate) enum Asked {
    /// What a handler makes of a call.
    Call(Serving),
    /// A decision of `authorize` or `authorize_body`.
    Authorize,
    /// Whether an issuer's keys are as new as they can be had.
    Keys,
    /// What the host says of a sender whose token is right.
    Settle,
    /// A session store's answer.
    Session,
    /// The caller's catalog.
    Catalog,
}

/// What a call holds on to until it has ended.
pub(crate) struct Serving {
    /// Keeps the definition, and with it the host's function.
    pub(crate) target: Target,
    pub(crate) place: Option<Place>,
}

/// Dropping the last reference fails a call that was not answered; it only wakes the one who waits.
#[rustler::resource_impl]
impl Resource for CallToken {}

impl CallToken {
    /// Ends the call for what it asked its client. `false` when nobody waits for it any more.
    pub(crate) fn reply_asked(&self) -> bool {
        let inquiry = self.token.inquiry();
        inquiry.is_some_and(|inquiry| self.reply(Input::Outcome(CallOutcome::Asked(inquiry))))
    }

    /// Answers. The call's place is free before its client can know.
    pub(crate) fn reply(&self, input: Input) -> bool {
        if let Asked::Call(Serving {
            place: Some(place), ..
        }) = &self.asked
        {
            place.give_back();
        }
        self.token.reply(input)
    }
}
