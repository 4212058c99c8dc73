//! A call whose messages go out before its answer.

use std::{mem, time::Duration};

use mcp_protocol::{Answer, Ask, Exchange, Input, Scope, Step, StreamHead, Unanswered};
use tokio::time::{sleep, timeout};

use crate::{
    buffers::Reservation,
    clock::now,
    held::held,
    host::Host,
    outbox::Taken,
    run::{ask, compute},
    waiting::Waiting,
};

/// The rest of an exchange: frames, then the answer. Dropping it is what dropping [`run`](crate::run) is.
pub struct CallStream<H: Host> {
    exchange: Box<Exchange>,
    waiting: Waiting<H>,
    /// It is an HTTP response that has begun, and counts as one.
    open: bool,
}

/// One piece of a stream.
pub enum Part {
    /// A message, ready to be written, and its share of `max_buffered_bytes`.
    Frame(Vec<u8>, Reservation),
    /// The response ends here without an answer, which went out before or goes out by another response.
    Break,
    /// Nothing came for as long as the peer should be left without a sign of life.
    Quiet,
    /// The answer and its share: its body is the last piece, and nothing follows.
    Answer(Box<Answer>, Reservation),
}

impl<H: Host> CallStream<H> {
    pub(crate) fn new(exchange: Box<Exchange>, mut waiting: Waiting<H>) -> Self {
        waiting.watch();
        Self {
            exchange,
            waiting,
            open: false,
        }
    }

    /// Who may resume it.
    pub(crate) fn resumable(&self) -> Option<Scope> {
        self.exchange.resumable()
    }

    /// Begins the HTTP response.
    pub fn open(&mut self) -> StreamHead {
        // Once, however often its client comes back.
        if !mem::replace(&mut self.open, true) {
            self.waiting.host().calls().count_stream(true);
        }
        self.exchange.open_stream()
    }

    /// Waits until [`CallStream::next`] has a piece without waiting. Cancel safe.
    pub async fn ready(&mut self) {
        self.waiting.ready().await;
    }

    /// The next piece, waiting at most `patience` for it.
    pub async fn next(&mut self, patience: Duration) -> Part {
        if timeout(patience, self.waiting.ready()).await.is_err() {
            return Part::Quiet;
        }
        if self.waiting.has_request_first()
            && let Some(part) = self.recheck().await
        {
            return part;
        }
        match self.waiting.take().await {
            Taken::Frame(frame, room) => Part::Frame(frame, room),
            Taken::Break => Part::Break,
            Taken::End(outcome) => Box::pin(self.answer(outcome)).await,
        }
    }

    /// Before the client is asked something: what its stream comes to when it may not be, or nobody can say now. Cancel
    /// safe: what is to be sent waits on.
    async fn recheck(&self) -> Option<Part> {
        let question = self.exchange.ask_again()?;
        match self
            .exchange
            .stands(&ask(self.waiting.host(), question).await)
        {
            Some(true) => None,
            Some(false) => Some(Part::Break),
            None => {
                sleep(RETRY).await;
                Some(Part::Quiet)
            }
        }
    }

    async fn answer(&mut self, outcome: Input) -> Part {
        let mut input = outcome;
        loop {
            input = match self.exchange.resume(now(), input) {
                Step::Answer(answer) => {
                    let buffers = self.waiting.host().buffers();
                    let (answer, room) = held(buffers.reserve(), &mut self.exchange, *answer);
                    return Part::Answer(Box::new(answer), room);
                }
                Step::Compute(computation) => compute(computation).await,
                Step::Ask(question) => unasked(&question.ask),
                Step::ReadBody { .. } | Step::Listen(_) | Step::Deliver(_) => {
                    Input::Unanswered(Unanswered::Failed)
                }
            };
        }
    }
}

impl<H: Host> Drop for CallStream<H> {
    fn drop(&mut self) {
        if self.open {
            self.waiting.host().calls().count_stream(false);
        }
    }
}

/// How long to wait where nobody could say whether a client may be asked.
const RETRY: Duration = Duration::from_secs(1);

/// After its call an exchange has no questions left.
fn unasked(ask: &Ask) -> Input {
    debug_assert!(false, "{ask:?} is asked after a call");
    Input::Unanswered(Unanswered::Failed)
}
