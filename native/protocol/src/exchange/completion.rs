//! `completion/complete`.

use std::sync::Arc;

use super::{Exchange, Reply, Request};
use crate::{
    call::Target, error::Error, methods::completion_complete, outcome::CompletionResult,
    step::Step, time::Now,
};

impl Exchange {
    pub(super) fn complete(&mut self, now: Now, request: Request) -> Result<Step, Error> {
        let (catalog, config) = (self.catalog(), &self.shared.config);
        match completion_complete::read(request.named_params(), catalog, config)? {
            Some((completing, settled)) => {
                let target = Target::Completion(Arc::new(completing));
                self.dispatch(now, request, target, settled)
            }
            None => Ok(self.completion(&request.reply(), &CompletionResult::default())),
        }
    }

    pub(super) fn completion(&mut self, reply: &Reply, completion: &CompletionResult) -> Step {
        self.result(reply, None, |members| {
            completion_complete::write(members, completion);
        })
    }
}
