//! The right to answer, as a term that one process holds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_driver::Token;
use mcp_protocol::{Call, CallOutcome, Input, Place};
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
    Call(HeldCall),
    /// A decision of `authorize` or `authorize_body`.
    Authorize,
    /// Whether an issuer's keys are as new as they can be had, or whether it said something of a token.
    Fetch,
    /// What the host says of a sender whose token is right.
    Settle,
    /// A session store's answer.
    Session,
    /// What became of a question about tasks.
    Task,
    /// Whether the caller may use a definition.
    Permit,
    /// Which definitions the caller sees.
    Sift,
    /// That other nodes were told.
    Relay,
    /// The caller's catalog.
    Catalog,
}

/// A call until it is answered.
pub(crate) struct HeldCall {
    /// Keeps the definition, and with it the host's function. `None` once it was answered.
    call: Mutex<Option<Box<Call>>>,
    /// Shared with the task that the call may become.
    pub(crate) place: Option<Arc<Place>>,
}

impl HeldCall {
    pub(crate) fn new(mut call: Box<Call>) -> Self {
        Self {
            place: call.place.take().map(Arc::new),
            call: Mutex::new(Some(call)),
        }
    }

    /// The call; `None` once it was answered.
    pub(crate) fn call(&self) -> MutexGuard<'_, Option<Box<Call>>> {
        self.call.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dropping the last reference fails a call that was not answered: that wakes the one who waits and frees little.
#[rustler::resource_impl]
impl Resource for CallToken {}

impl CallToken {
    /// Ends the call for what it asked its client; the next round brings `note` along. `false` when nobody waits for it any more.
    pub(crate) fn reply_asked(&self, note: &str) -> bool {
        let (Asked::Call(held), Some(mut inquiry)) = (&self.asked, self.token.inquiry()) else {
            return false;
        };
        inquiry.set_note(note);
        let call = held.call().take();
        self.end(held, CallOutcome::Asked(inquiry), call)
    }

    /// Answers with what `read` makes of the call, or leaves it unanswered. `Ok(false)` when it is answered already, or
    /// nobody waits for it any more.
    pub(crate) fn reply_to_call<E>(
        &self,
        held: &HeldCall,
        read: impl FnOnce(&Call) -> Result<CallOutcome, E>,
    ) -> Result<bool, E> {
        // Kept while it is read: whoever answers at the same moment hears what became of this answer.
        let mut kept = held.call();
        let Some(call) = &*kept else {
            return Ok(false);
        };
        let outcome = read(call)?;
        Ok(self.end(held, outcome, kept.take()))
    }

    /// The call's place is free before its client can know, unless a task has it now.
    fn end(&self, held: &HeldCall, outcome: CallOutcome, call: Option<Box<Call>>) -> bool {
        let goes_on = matches!(outcome, CallOutcome::Task(_));
        if let (Some(_), Some(place), false) = (&call, &held.place, goes_on) {
            place.give_back();
        }
        self.token.reply_with_call(Input::Outcome(outcome), call)
    }
}
