//! The loop between an exchange and the world.

use std::{sync::Arc, time::Duration};

use mcp_protocol::{Answer, Ask, Exchange, Input, Step, Unanswered};
use tokio::{
    sync::oneshot,
    task::spawn_blocking,
    time::{Instant, timeout_at},
};

use crate::host::{CallNumber, CancelReason, Host, now};

/// Feeds `exchange` until it has its answer.
///
/// `read_body` reads the body of at most so many bytes; it is asked at most once, and never for a line of a pipe.
/// Dropping the future cancels the call that it waits for, unless the exchange survives a disconnect (MCP 2025-11-25
/// basic/transports: a disconnect is no cancellation); then the call runs on under its deadline.
pub async fn run<H: Host>(
    host: &Arc<H>,
    exchange: &mut Exchange,
    mut step: Step,
    read_body: impl AsyncFnOnce(usize) -> Input,
) -> Answer {
    let mut read_body = Some(read_body);
    loop {
        let input = match step {
            Step::Answer(answer) => return *answer,
            Step::Compute(computation) => match spawn_blocking(move || computation.run()).await {
                Ok(computed) => Input::Computed(computed),
                Err(_) => Input::Unanswered(Unanswered::Failed),
            },
            Step::Ask(question) => match question.ask {
                Ask::Body { max_bytes } => match read_body.take() {
                    Some(read) => read(max_bytes).await,
                    None => Input::Unanswered(Unanswered::Failed),
                },
                ask => {
                    let limit = Duration::from_millis(question.timeout_ms);
                    answer(host, ask, limit, exchange.survives_disconnect()).await
                }
            },
        };
        step = exchange.resume(now(), input);
    }
}

async fn answer<H: Host>(host: &Arc<H>, ask: Ask, limit: Duration, survives: bool) -> Input {
    if let Ask::Cancel { scope, request } = &ask {
        for call in host.calls().find(scope, request.as_ref()) {
            cancel(host, call, Unanswered::Cancelled, CancelReason::Cancelled);
        }
        return Input::Done;
    }
    let Some(route) = host.route() else {
        return Input::Unanswered(Unanswered::Failed);
    };
    let opened = match host.calls().open(ask, route) {
        Ok(opened) => opened,
        Err(refused) => return Input::Unanswered(refused),
    };
    let deadline = Instant::now() + limit;
    let mut waiting = Waiting {
        host,
        call: opened.number,
        answer: Some(opened.answer),
        survives: survives.then_some(deadline),
    };
    host.dispatch(opened.number, route);
    let answer = timeout_at(deadline, waiting.answer()).await;
    waiting.answer = None;
    match answer {
        Ok(Ok(input)) => input,
        Ok(Err(_)) => Input::Unanswered(Unanswered::Failed),
        Err(_) => {
            cancel(
                host,
                opened.number,
                Unanswered::Deadline,
                CancelReason::Deadline,
            );
            Input::Unanswered(Unanswered::Deadline)
        }
    }
}

/// Stops waiting for a call and has it stopped.
pub fn cancel<H: Host>(host: &Arc<H>, call: CallNumber, answer: Unanswered, reason: CancelReason) {
    if let Some(worker) = host.calls().abandon(call, answer) {
        host.cancel(call, worker, reason);
    }
}

/// What becomes of a call whose connection goes away while it is awaited.
struct Waiting<'a, H: Host> {
    host: &'a Arc<H>,
    call: CallNumber,
    /// Present while the call is awaited.
    answer: Option<oneshot::Receiver<Input>>,
    /// Until when it goes on by itself; not at all when `None`.
    survives: Option<Instant>,
}

impl<H: Host> Waiting<'_, H> {
    fn answer(&mut self) -> &mut oneshot::Receiver<Input> {
        self.answer
            .as_mut()
            .expect("the answer is there until it was awaited")
    }
}

impl<H: Host> Drop for Waiting<'_, H> {
    fn drop(&mut self) {
        let Some(answer) = self.answer.take() else {
            return;
        };
        let (host, call) = (Arc::clone(self.host), self.call);
        match self.survives {
            None => cancel(&host, call, Unanswered::Cancelled, CancelReason::Gone),
            Some(deadline) => {
                tokio::spawn(async move {
                    if timeout_at(deadline, answer).await.is_err() {
                        cancel(&host, call, Unanswered::Deadline, CancelReason::Deadline);
                    }
                });
            }
        }
    }
}
