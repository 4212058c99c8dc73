//! An exchange that answers with changes until its client leaves or the server ends it.

use std::{sync::Arc, time::Duration};

use mcp_protocol::{Answer, Delivery, Exchange, Input, Step, StreamHead, Unanswered};
use tokio::{
    select,
    time::{Instant, sleep, timeout},
};

use crate::{
    hearing::Hearing,
    held::held,
    host::{Host, now},
    run,
    stream::Part,
    subscriber::{Ready, Taken},
};

/// The changes, then the answer. Dropping it ends the subscription.
pub struct Listening<H: Host> {
    host: Arc<H>,
    exchange: Exchange,
    hearing: Hearing,
    /// When the client was last found to be entitled; never so far for `None`.
    checked: Option<Instant>,
}

impl<H: Host> Listening<H> {
    pub(crate) fn new(host: &Arc<H>, exchange: Exchange, hearing: Hearing) -> Self {
        Self {
            host: Arc::clone(host),
            exchange,
            hearing,
            checked: None,
        }
    }

    /// Begins the HTTP response.
    pub(crate) fn open(&mut self) -> StreamHead {
        self.exchange.open_stream()
    }

    /// Waits until [`Listening::next`] has a piece without waiting, or has an end to make. Cancel safe.
    pub(crate) async fn ready(&self, closing: impl Future<Output = ()>) {
        if !self.hearing.has_more_ahead() {
            select! {
                () = closing => {}
                _ = self.hearing.ready() => {}
            }
        }
    }

    /// The next piece, waiting at most `patience` for it. `closing` tells that the transport ends.
    pub(crate) async fn next(
        &mut self,
        patience: Duration,
        closing: impl Future<Output = ()>,
    ) -> Part {
        if let Some(message) = self.hearing.ahead() {
            return self.frame(message);
        }
        let ready = select! {
            biased;
            () = closing => Ok(Ready::End),
            ready = timeout(patience, self.hearing.ready()) => ready,
        };
        match ready {
            Ok(Ready::End) => self.end().await,
            Ok(Ready::Changes) => match self.recheck(RECHECK).await {
                Some(part) => part,
                None => match self.hearing.take() {
                    Some(Taken::Message(message)) => self.frame(message),
                    Some(Taken::Task(id)) => self.task(id).await,
                    None => Part::Quiet,
                },
            },
            Err(_) => self.recheck(RECHECK_IDLE).await.unwrap_or(Part::Quiet),
        }
    }

    /// What follows the answer on a pipe.
    pub fn farewell(&self) -> Option<Vec<u8>> {
        self.hearing.farewell()
    }

    /// Asks again whether the client may read on, when it was not asked for so long; what is to be said instead.
    async fn recheck(&mut self, after: Duration) -> Option<Part> {
        if self
            .checked
            .is_some_and(|checked| checked.elapsed() < after)
        {
            return None;
        }
        let edits = self.hearing.edits();
        let step = self.exchange.recheck(now());
        match Box::pin(self.decide(step)).await {
            Ok(Delivery::Later) => {
                sleep(RECHECK).await;
                return Some(Part::Quiet);
            }
            Ok(Delivery::To(uris)) => self.hearing.refresh_uris(uris, edits),
            Ok(Delivery::Now | Delivery::Task(_)) => {}
            Err(answer) => return Some(self.answer(*answer)),
        }
        self.checked = Some(Instant::now());
        None
    }

    async fn end(&mut self) -> Part {
        loop {
            let step = self.exchange.resume(now(), Input::Done);
            if let Err(answer) = Box::pin(self.decide(step)).await {
                return self.answer(*answer);
            }
        }
    }

    /// A message of a few hundred bytes goes out also where it finds no room in the budget: there is one for each stream.
    fn frame(&self, message: Vec<u8>) -> Part {
        let mut room = self.host.buffers().reserve();
        room.grow(message.len());
        Part::Frame(message, room)
    }

    /// What has become of a task. Its result may be large: without room for it, it is told later.
    async fn task(&mut self, id: Arc<str>) -> Part {
        let step = self.exchange.find_task(&id);
        let message = match Box::pin(self.decide(step)).await {
            Ok(Delivery::Task(Some(task))) => self.hearing.tell_task(&task),
            Ok(_) => None,
            Err(answer) => return self.answer(*answer),
        };
        let Some(message) = message else {
            return Part::Quiet;
        };
        let mut room = self.host.buffers().reserve();
        if room.grow(message.len()) {
            return Part::Frame(message, room);
        }
        sleep(RECHECK).await;
        self.hearing.put_back(id);
        Part::Quiet
    }

    fn answer(&mut self, answer: Answer) -> Part {
        let (answer, room) = held(self.host.buffers(), &mut self.exchange, answer);
        Part::Answer(Box::new(answer), room)
    }

    /// Answers what the exchange asks until it says what becomes of the changes, or is over. Callers box it, since an idle
    /// stream would hold the room for it.
    async fn decide(&mut self, mut step: Step) -> Result<Delivery, Box<Answer>> {
        loop {
            let input = match step {
                Step::Answer(answer) => return Err(answer),
                Step::Deliver(delivery) => return Ok(delivery),
                Step::Ask(question) => run::ask(&self.host, *question).await,
                Step::Compute(computation) => run::compute(computation).await,
                Step::Listen(_) => Input::Unanswered(Unanswered::Failed),
            };
            step = self.exchange.resume(now(), input);
        }
    }
}

/// A client that may not read any more reads no change that comes so long after it was asked for last.
const RECHECK: Duration = Duration::from_secs(1);

/// How often one is asked for while nothing changes.
const RECHECK_IDLE: Duration = Duration::from_secs(30);
