//! An exchange that answers with changes until its client leaves or the server ends it.

use std::{pin::pin, sync::Arc, time::Duration};

use mcp_protocol::{Answer, Change, Delivery, Exchange, Input, Pipe, Step, StreamHead, Unanswered};
use tokio::{
    select,
    time::{Instant, sleep, timeout},
};

use crate::{
    clock::now, hearing::Hearing, held::held, host::Host, run, stream::Part, subscriber::Ready,
};

/// The changes, then the answer. Dropping it ends the subscription.
pub struct Listening<H: Host> {
    host: Arc<H>,
    exchange: Box<Exchange>,
    hearing: Hearing,
    /// When the client was last found to be entitled; never so far for `None`.
    checked: Option<Instant>,
}

impl<H: Host> Listening<H> {
    pub(crate) fn new(host: &Arc<H>, exchange: Box<Exchange>, hearing: Hearing) -> Self {
        Self {
            host: Arc::clone(host),
            exchange,
            hearing,
            checked: None,
        }
    }

    /// What a legacy client on a pipe hears of; nothing where no session is open, or as many subscriptions as the instance
    /// allows.
    pub fn of_pipe(host: &Arc<H>, pipe: &Pipe) -> Option<Self> {
        let (exchange, subscription) = pipe.subscription(&host.shared())?;
        let hearing = host.subscribers().begin(subscription, host.buffers());
        Some(Self::new(host, exchange, hearing.ok()?))
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
    pub async fn next(&mut self, patience: Duration, closing: impl Future<Output = ()>) -> Part {
        if let Some(message) = self.hearing.ahead() {
            return self.frame(message);
        }
        let (began, patience) = (Instant::now(), self.patience(patience));
        let mut closing = pin!(closing);
        loop {
            let patience = patience.saturating_sub(began.elapsed());
            let ready = select! {
                biased;
                () = &mut closing => Ok(Ready::End),
                ready = timeout(patience, self.hearing.ready()) => ready,
            };
            let part = match ready {
                Ok(Ready::End) => Some(self.end().await),
                Ok(Ready::Changes) => match self.recheck(RECHECK).await {
                    Some(part) => Some(part),
                    None => self.change().await,
                },
                Err(_) => Some(self.recheck(RECHECK_IDLE).await.unwrap_or(Part::Quiet)),
            };
            if let Some(part) = part {
                return part;
            }
        }
    }

    /// What follows the answer on a pipe.
    pub fn farewell(&self) -> Option<Vec<u8>> {
        self.hearing.farewell()
    }

    /// How long to wait, and no longer than the client's access token is good for.
    fn patience(&self, patience: Duration) -> Duration {
        let ends = self.exchange.ends_in_ms(now()).map(Duration::from_millis);
        ends.map_or(patience, |ends| patience.min(ends))
    }

    /// Asks again whether the client may read on, when it was not asked for so long; what is to be said instead.
    async fn recheck(&mut self, after: Duration) -> Option<Part> {
        let has_ended = self.exchange.ends_in_ms(now()) == Some(0);
        let was_checked = self
            .checked
            .is_some_and(|checked| checked.elapsed() < after);
        if was_checked && !has_ended {
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
            Ok(Delivery::Now | Delivery::Withheld | Delivery::Task(_)) => {}
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

    /// The next change; none when there is nothing to be said of it to this client.
    async fn change(&mut self) -> Option<Part> {
        let change = self.hearing.first()?;
        if let Change::Task(id) = &change {
            self.hearing.forget(&change);
            return Some(self.task(Arc::clone(id)).await);
        }
        let catalog = Arc::clone(&self.host.shared().catalog);
        let step = self.exchange.permit_change(now(), &change, &catalog);
        match self.decide(step).await {
            Ok(Delivery::Withheld) => {
                self.hearing.forget(&change);
                None
            }
            Ok(Delivery::Later) => {
                sleep(RECHECK).await;
                Some(Part::Quiet)
            }
            Ok(_) => self
                .hearing
                .tell(&change)
                .map(|message| self.frame(message)),
            Err(answer) => Some(self.answer(*answer)),
        }
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
        let (answer, room) = held(self.host.buffers().reserve(), &mut self.exchange, answer);
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
                Step::ReadBody { .. } | Step::Listen(_) => Input::Unanswered(Unanswered::Failed),
            };
            step = self.exchange.resume(now(), input);
        }
    }
}

/// A client that may not read any more reads no change that comes so long after it was asked for last.
const RECHECK: Duration = Duration::from_secs(1);

/// How often one is asked for while nothing changes.
const RECHECK_IDLE: Duration = Duration::from_secs(30);
