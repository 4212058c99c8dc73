//! `prompts/get`.

use super::{Exchange, Reply, Request};
use crate::{
    call::Target, error::Error, methods::prompts_get, outcome::PromptResult, step::Step, time::Now,
};

impl Exchange {
    pub(super) fn get_prompt(&mut self, now: Now, mut request: Request) -> Result<Step, Error> {
        let (prompt, arguments) = prompts_get::read(request.named_params(), self.catalog())?;
        self.read_inputs(now, &mut request)?;
        self.dispatch(now, request, Target::Prompt(prompt), arguments)
    }

    pub(super) fn prompt(&mut self, reply: &Reply, prompt: &PromptResult) -> Step {
        self.result(reply, prompt.meta.as_deref(), |members| {
            prompts_get::write(members, prompt, reply.revision);
        })
    }
}
