//! Waiting for the answer to one call.

use std::{sync::Arc, time::Duration};

use mcp_protocol::{Ask, Input, Unanswered};
use tokio::{
    sync::oneshot,
    task::AbortHandle,
    time::{Instant, sleep_until, timeout_at},
};

use crate::{
    calls::Response,
    host::{CallNumber, CancelReason, Host},
    outbox::{Outbox, Taken},
};

/// A call that was handed over. Dropping this cancels the call, unless it survives its connection; then it runs on
/// under its deadline.
pub(crate) struct Waiting<H: Host> {
    host: Arc<H>,
    call: CallNumber,
    deadline: Instant,
    survives: bool,
    /// Present while the call is awaited.
    source: Option<Source>,
    /// Ends the call at its deadline although nobody polls this.
    watchdog: Option<AbortHandle>,
}

/// Where the outcome comes from.
enum Source {
    Once(oneshot::Receiver<Response>),
    Outbox(Arc<Outbox>),
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
    /// Hands a question over to the host. An outcome is there at once when that is not possible.
    pub(crate) fn begin(
        host: &Arc<H>,
        ask: Ask,
        limit: Duration,
        survives: bool,
    ) -> Result<Self, Unanswered> {
        let route = host.route().ok_or(Unanswered::Failed)?;
        let opened = host.calls().open(ask, route)?;
        let waiting = Self {
            host: Arc::clone(host),
            call: opened.number,
            deadline: Instant::now() + limit,
            survives,
            source: Some(Source::Once(opened.answer)),
            watchdog: None,
        };
        host.dispatch(opened.number, route);
        Ok(waiting)
    }

    /// Waits for the outcome, for a first message, or for `limit`.
    pub(crate) async fn hear(&mut self, limit: Option<Duration>) -> Heard {
        let Some(Source::Once(receiver)) = &mut self.source else {
            return Heard::Messages;
        };
        let patience = limit.map_or(self.deadline, |limit| {
            self.deadline.min(Instant::now() + limit)
        });
        match timeout_at(patience, receiver).await {
            Ok(Ok(Response::Outcome(outcome))) => self.over(outcome),
            Ok(Ok(Response::Messages(outbox))) => {
                self.source = Some(Source::Outbox(outbox));
                Heard::Messages
            }
            Ok(Err(_)) => self.over(Input::Unanswered(Unanswered::Failed)),
            Err(_) if patience < self.deadline => Heard::Nothing,
            Err(_) => {
                cancel(
                    &self.host,
                    self.call,
                    Unanswered::Deadline,
                    CancelReason::Deadline,
                );
                self.over(Input::Unanswered(Unanswered::Deadline))
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

    /// The next message, or the outcome. Cancel safe.
    pub(crate) async fn take(&mut self) -> Taken {
        let taken = match &mut self.source {
            Some(source) => source.take().await,
            None => Taken::End(Input::Unanswered(Unanswered::Failed)),
        };
        if matches!(taken, Taken::End(_)) {
            self.source = None;
        }
        taken
    }

    fn over(&mut self, outcome: Input) -> Heard {
        self.source = None;
        Heard::Outcome(outcome)
    }
}

impl Source {
    async fn take(&mut self) -> Taken {
        loop {
            match self {
                Self::Outbox(outbox) => return outbox.take().await,
                Self::Once(receiver) => match receiver.await {
                    Ok(Response::Outcome(outcome)) => return Taken::End(outcome),
                    Ok(Response::Messages(outbox)) => *self = Self::Outbox(outbox),
                    Err(_) => return Taken::End(Input::Unanswered(Unanswered::Failed)),
                },
            }
        }
    }

    /// Lets the call run to its end.
    async fn outlast(mut self) {
        while let Taken::Frame(_) = self.take().await {}
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
        tokio::spawn(async move {
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
