//! The loop between an exchange and the world.

use std::{sync::Arc, time::Duration};

use mcp_protocol::{
    Ask, Computation, EventId, Exchange, Input, Owner, Question, RequestHead, Scope, Step,
    Subscription, Unanswered,
};
use tokio::task::spawn_blocking;

use crate::{
    buffers::Reservation,
    clock::now,
    event::Event,
    hearing::Hearing,
    held::held,
    host::Host,
    listening::Listening,
    reach::{cancel_calls, end_session, hear},
    resumable::ResumableStream,
    served::{Served, Stream},
    stream::CallStream,
    waiting::{Heard, Waiting},
};

/// Feeds `exchange` until it has its answer, or until its call sends a message first.
///
/// `read_body` reads the body of at most so many bytes, and counts them in `room`, which holds the answer in the end;
/// `guard` checks an access token; each is asked at most once, and never for a line of a pipe.
/// Dropping the future, or the stream, cancels the call that it waits for, unless the exchange survives a disconnect
/// (MCP 2025-11-25 basic/transports: a disconnect is no cancellation); then the call runs on under its deadline.
pub async fn run<H: Host>(
    host: &Arc<H>,
    mut exchange: Box<Exchange>,
    mut step: Step,
    mut room: Reservation,
    read_body: impl AsyncFnOnce(usize, &mut Reservation) -> Input,
    guard: impl AsyncFnOnce(Arc<RequestHead>) -> Input,
) -> Served<H> {
    let (mut read_body, mut guard) = (Some(read_body), Some(guard));
    loop {
        for verdict in exchange.take_verdicts() {
            host.record(Event::Decision(Box::new(verdict)));
        }
        let input = match step {
            Step::Answer(answer) => {
                let (answer, room) = held(room, &mut exchange, *answer);
                return Served::Answer(answer, room);
            }
            Step::Compute(computation) => compute(computation).await,
            Step::ReadBody { max_bytes } => match read_body.take() {
                Some(read) => read(max_bytes, &mut room).await,
                None => Input::Unanswered(Unanswered::Failed),
            },
            Step::Ask(question) => match question.ask {
                Ask::Guard(head) => match guard.take() {
                    // Most requests have no token: its future is large, and this one moves.
                    Some(guard) => Box::pin(guard(head)).await,
                    None => Input::Unanswered(Unanswered::Failed),
                },
                _ => match answer(host, *question, &exchange).await {
                    Ok(input) => input,
                    Err(waiting) => {
                        let call = CallStream::new(exchange, waiting);
                        return Served::Stream(Box::new(Stream::of_call(host, call)));
                    }
                },
            },
            Step::Listen(subscription) => match subscription.resumed_call() {
                Some((owner, place)) => match resume(host, owner, place, &mut exchange).await {
                    Some(stream) => return Served::Stream(Box::new(Stream::Resumable(stream))),
                    None => Input::Unanswered(Unanswered::StreamGone),
                },
                None => match begin(host, *subscription) {
                    Ok(hearing) => {
                        let stream = Stream::Listening(Listening::new(host, exchange, hearing));
                        return Served::Stream(Box::new(stream));
                    }
                    Err(why) => Input::Unanswered(why),
                },
            },
            Step::Deliver(_) => Input::Unanswered(Unanswered::Failed),
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

/// The answer to a question that no stream comes of. Dropping the future withdraws the question.
pub async fn ask<H: Host>(host: &Arc<H>, question: Question) -> Input {
    let limit = Duration::from_millis(question.timeout_ms);
    match Waiting::begin(host, question.ask, limit, false) {
        Ok(mut waiting) => match waiting.hear(None).await {
            Heard::Outcome(input) => input,
            Heard::Messages | Heard::Nothing => Input::Unanswered(Unanswered::Failed),
        },
        Err(why) => Input::Unanswered(why),
    }
}

/// Goes on with the stream of a call that its client left, in the words of the exchange that asks for it.
async fn resume<H: Host>(
    host: &Arc<H>,
    owner: &Scope,
    place: &EventId,
    exchange: &mut Exchange,
) -> Option<ResumableStream<H>> {
    let detached = host.detached().take(owner, place).await?;
    let stream = ResumableStream::resume(host, detached, place)?;
    Some(stream.with_head(exchange.open_stream()))
}

/// Begins a subscription, unless its id is that of another request in flight on its pipe.
fn begin<H: Host>(host: &Arc<H>, subscription: Subscription) -> Result<Hearing, Unanswered> {
    if let Owner::Request(scope, id) = &subscription.owner
        && !host.calls().find(scope, Some(id)).is_empty()
    {
        return Err(Unanswered::DuplicateId);
    }
    host.subscribers().begin(subscription, host.buffers())
}

/// The answer to a question, or the wait for it when that is to be a stream.
async fn answer<H: Host>(
    host: &Arc<H>,
    question: Question,
    exchange: &Exchange,
) -> Result<Input, Waiting<H>> {
    if let Ask::Cancel { scope, request } = &question.ask {
        if request.is_none() {
            end_session(host, scope);
            return Ok(Input::Done);
        }
        return Ok(cancel_calls(host, scope, request.as_ref()));
    }
    if let Ask::Hear { scope, response } = &question.ask {
        return Ok(hear(host, scope, response));
    }
    if let Ask::Call(call) = &question.ask
        && let Some((scope, id)) = &call.cancel_key
        && host.subscribers().has(scope, id)
    {
        return Ok(Input::Unanswered(Unanswered::DuplicateId));
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
