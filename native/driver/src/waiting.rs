//! Waiting for the answer to one call.

use std::{sync::Arc, time::Duration};

use mcp_protocol::{Ask, Input, Unanswered};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    task::AbortHandle,
    time::{Instant, sleep_until, timeout_at},
};

use crate::{
    calls::Response,
    deadline::before,
    host::{CallNumber, CancelReason, Host},
    outbox::{Outbox, Taken},
    visitor::received,
};

/// A call that was handed over. Dropping this cancels the call, unless it survives its connection; then it runs on
/// under its deadline.
pub(crate) struct Waiting<H: Host> {
    host: Arc<H>,
    call: CallNumber,
    begun: Instant,
    deadline: Instant,
    survives: bool,
    /// Present while the call is awaited.
    source: Option<Source>,
    /// Ends the call at its deadline although nobody polls this.
    watchdog: Option<AbortHandle>,
}

/// Where the outcome comes from.
enum Source {
    /// Not known yet.
    Once(oneshot::Receiver<Response>),
    /// It comes after messages.
    Outbox(Arc<Outbox>),
    /// It is here.
    Outcome(Input),
}

/// What came of waiting for a while.
pub(crate) enum Heard {
    /// The call is over.
    Outcome(Input),
    /// The call sends messages first.
    Messages,
    /// Nothing yet.
    Nothing,
}

impl<H: Host> Waiting<H> {
    /// Hands a question over to the host.
    ///
    /// # Errors
    /// Why nobody takes it.
    pub(crate) fn begin(
        host: &Arc<H>,
        ask: Ask,
        limit: Duration,
        survives: bool,
    ) -> Result<Self, Unanswered> {
        let route = host.route().ok_or(Unanswered::Failed)?;
        let opened = host.calls().open(ask, route)?;
        let begun = Instant::now();
        let waiting = Self {
            host: Arc::clone(host),
            call: opened.number,
            begun,
            deadline: begun + limit,
            survives,
            source: Some(Source::Once(opened.answer)),
            watchdog: None,
        };
        host.dispatch(opened.number, route);
        Ok(waiting)
    }

    /// Waits for the outcome, for a first message, or until the call has run for `limit`.
    pub(crate) async fn hear(&mut self, limit: Option<Duration>) -> Heard {
        let Some(source) = &mut self.source else {
            return Heard::Nothing;
        };
        let patience = limit.map_or(self.deadline, |limit| self.deadline.min(self.begun + limit));
        if before(patience, source.settle()).await.is_none() {
            if patience < self.deadline {
                return Heard::Nothing;
            }
            let (answer, reason) = (Unanswered::Deadline, CancelReason::Deadline);
            cancel(&self.host, self.call, answer, reason);
            // Settled by that, unless the call said something in the last moment: then that counts.
            source.settle().await;
        }
        match self.source.take() {
            Some(Source::Outcome(outcome)) => Heard::Outcome(outcome),
            source => {
                self.source = source;
                Heard::Messages
            }
        }
    }

    /// Has the deadline kept by a task of its own: from now on this is polled only as fast as the client reads.
    pub(crate) fn watch(&mut self) {
        let (host, call, deadline) = (Arc::clone(&self.host), self.call, self.deadline);
        let watchdog = tokio::spawn(async move {
            sleep_until(deadline).await;
            cancel(&host, call, Unanswered::Deadline, CancelReason::Deadline);
        });
        self.watchdog = Some(watchdog.abort_handle());
    }

    /// Waits until a message or the outcome can be taken. Cancel safe.
    pub(crate) async fn ready(&mut self) {
        if let Some(source) = &mut self.source {
            source.ready().await;
        }
    }

    /// Whether what can be taken is a request to the client.
    pub(crate) fn has_request_first(&self) -> bool {
        matches!(&self.source, Some(Source::Outbox(outbox)) if outbox.has_request_first())
    }

    /// The next message, or the outcome, after which nothing follows. Cancel safe.
    pub(crate) async fn take(&mut self) -> Taken {
        loop {
            self.ready().await;
            match self.source.take() {
                Some(Source::Outbox(outbox)) => match outbox.take() {
                    Some(end @ Taken::End(_)) => return end,
                    taken => {
                        self.source = Some(Source::Outbox(outbox));
                        if let Some(frame) = taken {
                            return frame;
                        }
                    }
                },
                Some(Source::Outcome(outcome)) => return Taken::End(outcome),
                Some(Source::Once(_)) | None => return Taken::End(failed()),
            }
        }
    }

    pub(crate) fn host(&self) -> &Arc<H> {
        &self.host
    }
}

impl Source {
    /// Waits until it is known where the outcome comes from. Cancel safe.
    async fn settle(&mut self) {
        if let Self::Once(receiver) = self {
            *self = match received(receiver).await {
                Some(Response::Outcome(outcome, _spent)) => Self::Outcome(outcome),
                Some(Response::Messages(outbox)) => Self::Outbox(outbox),
                None => Self::Outcome(failed()),
            };
        }
    }

    /// Waits until something can be taken. Cancel safe.
    async fn ready(&mut self) {
        self.settle().await;
        if let Self::Outbox(outbox) = self {
            outbox.ready().await;
        }
    }

    /// Lets the call run to its end; its messages are for nobody.
    async fn outlast(mut self) {
        self.settle().await;
        let Self::Outbox(outbox) = self else {
            return;
        };
        loop {
            outbox.ready().await;
            if let Some(Taken::End(_)) = outbox.take() {
                return;
            }
        }
    }
}

impl<H: Host> Drop for Waiting<H> {
    fn drop(&mut self) {
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.abort();
        }
        let Some(source) = self.source.take() else {
            return;
        };
        let (host, call, deadline) = (Arc::clone(&self.host), self.call, self.deadline);
        if !self.survives {
            cancel(&host, call, Unanswered::Cancelled, CancelReason::Gone);
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            // A thread that serves no sockets clears up after a session that is over.
            cancel(&host, call, Unanswered::Cancelled, CancelReason::Gone);
            return;
        };
        runtime.spawn(async move {
            if timeout_at(deadline, source.outlast()).await.is_err() {
                cancel(&host, call, Unanswered::Deadline, CancelReason::Deadline);
            }
        });
    }
}

/// Stops waiting for a call and has it stopped.
pub fn cancel<H: Host>(host: &Arc<H>, call: CallNumber, answer: Unanswered, reason: CancelReason) {
    if let Some(worker) = host.calls().abandon(call, answer) {
        host.cancel(call, worker, reason);
    }
}

/// Whoever would have answered is gone.
fn failed() -> Input {
    Input::Unanswered(Unanswered::Failed)
}
