//! The right to answer one call.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use mcp_protocol::{Call, Input, Inquiry};

use crate::{calls::Calls, host::CallNumber};

/// Answers one call at most once. Dropping it unused fails the call, so that nobody waits for a lost one.
pub struct Token<W: Copy> {
    calls: Arc<Calls<W>>,
    number: CallNumber,
    /// Whether nothing is left to answer.
    is_used: AtomicBool,
}

impl<W: Copy> Token<W> {
    pub(crate) fn new(calls: Arc<Calls<W>>, number: CallNumber) -> Self {
        calls.count_token(true);
        let is_used = AtomicBool::new(false);
        Self {
            calls,
            number,
            is_used,
        }
    }

    /// Answers. `false` when the call was answered, cancelled or ran out of time before.
    pub fn reply(&self, answer: Input) -> bool {
        self.reply_with_call(answer, None)
    }

    /// The same, and returns the call to the thread that it came from, which frees its memory at less cost.
    pub fn reply_with_call(&self, answer: Input, call: Option<Box<Call>>) -> bool {
        self.is_used.store(true, Ordering::Relaxed);
        self.calls.finish(self.number, answer, call)
    }

    /// What the call asked its client, to end it with. `None` when nobody waits for the call any more.
    pub fn inquiry(&self) -> Option<Box<Inquiry>> {
        self.calls.take_inquiry(self.number)
    }

    /// The call's number.
    pub fn number(&self) -> CallNumber {
        self.number
    }
}

impl<W: Copy> Drop for Token<W> {
    fn drop(&mut self) {
        if !*self.is_used.get_mut() {
            self.calls.fail(self.number);
        }
        self.calls.count_token(false);
    }
}
