//! The loop between an exchange and the world.

use std::{sync::Arc, time::Duration};

use mcp_protocol::{Answer, Ask, Computation, Exchange, Input, Question, Step, Unanswered};
use tokio::task::spawn_blocking;

use crate::{
    buffers::Reservation,
    held::held,
    host::{CancelReason, Host, now},
    stream::CallStream,
    waiting::{Heard, Waiting, cancel},
};

/// How an exchange is answered.
pub enum Served<H: Host> {
    /// With this, whole; and its share of `max_buffered_bytes`, until it is on its way.
    Answer(Answer, Reservation),
    /// By a call that sends messages first, or takes long: they come one by one, the answer last.
    Stream(Box<CallStream<H>>),
}

/// Feeds `exchange` until it has its answer, or until its call sends a message first.
///
/// `read_body` reads the body of at most so many bytes; it is asked at most once, and never for a line of a pipe.
/// Dropping the future, or the stream, cancels the call that it waits for, unless the exchange survives a disconnect
/// (MCP 2025-11-25 basic/transports: a disconnect is no cancellation); then the call runs on under its deadline.
pub async fn run<H: Host>(
    host: &Arc<H>,
    mut exchange: Exchange,
    mut step: Step,
    read_body: impl AsyncFnOnce(usize) -> Input,
) -> Served<H> {
    let mut read_body = Some(read_body);
    loop {
        let input = match step {
            Step::Answer(answer) => {
                let (answer, room) = held(host.buffers(), &mut exchange, *answer);
                return Served::Answer(answer, room);
            }
            Step::Compute(computation) => compute(computation).await,
            Step::Ask(question) => match question.ask {
                Ask::Body { max_bytes } => match read_body.take() {
                    Some(read) => read(max_bytes).await,
                    None => Input::Unanswered(Unanswered::Failed),
                },
                _ => match answer(host, *question, &exchange).await {
                    Ok(input) => input,
                    Err(waiting) => {
                        return Served::Stream(Box::new(CallStream::new(exchange, waiting)));
                    }
                },
            },
        };
        step = exchange.resume(now(), input);
    }
}

/// Does work that would hold up a thread that serves sockets.
pub(crate) async fn compute(computation: Box<Computation>) -> Input {
    match spawn_blocking(move || computation.run()).await {
        Ok(computed) => Input::Computed(computed),
        Err(_) => Input::Unanswered(Unanswered::Failed),
    }
}

/// The answer to a question, or the wait for it when that is to be a stream.
async fn answer<H: Host>(
    host: &Arc<H>,
    question: Question,
    exchange: &Exchange,
) -> Result<Input, Waiting<H>> {
    if let Ask::Cancel { scope, request } = &question.ask {
        for call in host.calls().find(scope, request.as_ref()) {
            cancel(host, call, Unanswered::Cancelled, CancelReason::Cancelled);
        }
        return Ok(Input::Done);
    }
    if let Ask::Hear { scope, response } = &question.ask {
        if let Some((call, worker)) = host.calls().hear(scope, response, host.buffers()) {
            host.answered(call, worker);
        }
        return Ok(Input::Done);
    }
    let limit = Duration::from_millis(question.timeout_ms);
    let survives = exchange.survives_disconnect();
    let mut waiting = match Waiting::begin(host, question.ask, limit, survives) {
        Ok(waiting) => waiting,
        Err(why) => return Ok(Input::Unanswered(why)),
    };
    let streams_after = exchange.streams_after_ms().map(Duration::from_millis);
    if streams_after == Some(Duration::ZERO) {
        return Err(waiting);
    }
    match waiting.hear(streams_after).await {
        Heard::Outcome(input) => Ok(input),
        Heard::Messages | Heard::Nothing => Err(waiting),
    }
}
