//! The right to answer one job.

use std::sync::Arc;

use mcp_protocol::Input;

use crate::{calls::Calls, host::CallNumber};

/// Answers one job at most once. Dropping it unused fails the job, so that no caller waits for a lost one.
#[derive(Debug)]
pub struct Token {
    calls: Arc<Calls>,
    number: CallNumber,
}

impl Token {
    pub(crate) fn new(calls: Arc<Calls>, number: CallNumber) -> Self {
        calls.count_token(true);
        Self { calls, number }
    }

    /// Answers. `false` when the job was answered, cancelled or ran out of time before.
    pub fn reply(&self, answer: Input) -> bool {
        self.calls.finish(self.number, answer)
    }

    /// Whether an answer would still reach anybody.
    pub fn is_open(&self) -> bool {
        self.calls.is_open(self.number)
    }

    /// The job's number.
    pub fn number(&self) -> CallNumber {
        self.number
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.calls.fail(self.number);
        self.calls.count_token(false);
    }
}
