//! The task that serves one client.

use std::{
    collections::HashMap,
    future::poll_fn,
    io,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use mcp_driver::{CancelReason, Event, Host, cancel, note_work, now};
use mcp_protocol::{Ask, Connection, Exchange, IdKey, Line, Scope, Step, Unanswered};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::{AbortHandle, JoinSet},
    time::{self, timeout, timeout_at},
};

use crate::{
    changes::Changes,
    closing::{Close, Closing, closing},
    input::Input,
    options::Options,
    pipe::End,
    reply::Reply,
    writer::{Message, Writer, Writing},
};

/// One client's lines, its exchanges in flight, and where their answers go.
pub(crate) struct Conversation<H> {
    host: Arc<H>,
    /// The pipe as the core knows it, with the legacy session that `initialize` opened.
    peer: mcp_protocol::Pipe,
    input: Input,
    /// Lines started and not answered.
    exchanges: JoinSet<Ended>,
    /// Those of them that a cancellation may name.
    requests: HashMap<IdKey, AbortHandle>,
    answers: mpsc::Sender<Message>,
    /// Told when all answers are written, or why they cannot be.
    written: oneshot::Receiver<io::Result<()>>,
    /// Ends the writer when dropped.
    _writing: Writing,
    options: Options,
    /// What the client of a legacy session hears of.
    changes: Option<Changes>,
    /// Tells exchanges that would go on for ever that the pipe ends.
    close: Close,
    closing: Closing,
    /// Lines started so far.
    lines: u64,
}

/// An exchange that ended.
struct Ended {
    connection: Connection,
    id: Option<IdKey>,
}

impl<H: Host> Conversation<H> {
    pub(crate) fn new(
        host: Arc<H>,
        number: u64,
        input: Input,
        writer: Writer,
        options: Options,
    ) -> Self {
        let peer = mcp_protocol::Pipe {
            number,
            identity: options.identity.clone(),
            session: None,
        };
        let (close, closing) = closing();
        Self {
            host,
            peer,
            input,
            exchanges: JoinSet::new(),
            requests: HashMap::new(),
            answers: writer.messages,
            written: writer.done,
            _writing: writer.stop,
            options,
            changes: None,
            close,
            closing,
            lines: 0,
        }
    }

    /// Serves all lines, then finishes what runs.
    pub(crate) async fn run(mut self, closing: Arc<Notify>) -> End {
        let (host, peer) = (Arc::clone(&self.host), None);
        host.record(Event::ConnectionOpened { peer });
        let (end, deadline) = self.serve_all(&closing).await;
        self.input.close();
        self.drain(deadline).await;
        let requests = self.lines;
        let end = self.flush(end).await;
        let reason = match end {
            End::Fault(_) => "error",
            End::Input | End::Exit => "done",
        };
        host.record(Event::ConnectionClosed {
            peer,
            reason,
            requests,
        });
        end
    }

    /// Serves until the client says `exit` or the last line is started. Once the input has ended, or `closing` is told,
    /// the drain timeout runs, whether or not the client reads what it is answered. When that will have passed.
    async fn serve_all(&mut self, closing: &Notify) -> (End, time::Instant) {
        let limit = self.options.drain_timeout;
        let ended = self.input.ended();
        tokio::select! {
            end = self.serve() => return (end, time::Instant::now() + limit),
            () = closing.notified() => self.input.close(),
            () = ended => {}
        }
        let deadline = time::Instant::now() + limit;
        let served = timeout_at(deadline, self.serve()).await;
        (served.unwrap_or(End::Input), deadline)
    }

    /// Starts each line as it comes. Cancel safe: nothing is awaited between taking a line and starting it.
    async fn serve(&mut self) -> End {
        loop {
            let connection = tokio::select! {
                biased;
                Some(ended) = self.exchanges.join_next() => ended.ok().map(|ended| self.forget(ended)),
                line = next_line(&self.answers, &mut self.input) => match line {
                    Ok(Some(line)) => self.start(line).await,
                    Ok(None) => return End::Input,
                    Err(fault) => return End::Fault(format!("reading failed: {fault}")),
                },
            };
            if connection == Some(Connection::End) {
                return End::Exit;
            }
        }
    }

    /// Starts the exchange of a line. Says what becomes of the pipe when that is known at once.
    async fn start(&mut self, line: Line) -> Option<Connection> {
        note_work();
        self.lines += 1;
        let request_bytes = match &line {
            Line::Whole(bytes) | Line::TooLong { prefix: bytes, .. } => bytes.len(),
        };
        let reply = Reply {
            host: Arc::clone(&self.host),
            answers: self.answers.clone(),
            request_bytes,
            started: Instant::now(),
            record: self.options.record_requests,
            closing: self.closing.clone(),
        };
        self.hear();
        let (exchange, step) = Exchange::line(self.host.shared(), now(), line, &self.peer);
        if let Some(session) = exchange.opens_session() {
            let uris = session.subscriptions.clone();
            let scope = Scope::Pipe(self.peer.number);
            self.host.subscribers().set_uris(&scope, uris);
            self.peer.session = Some(session.clone());
        }
        if let Step::Ask(question) = &step
            && let Ask::Cancel {
                request: Some(id), ..
            } = &question.ask
        {
            self.give_up(id);
        }
        let id = exchange.cancel_id().cloned();
        let mut answering = Box::pin(reply.send(exchange, step));
        // Polled once before the next line is read, which may cancel the call that this one makes.
        let polled = poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await;
        match polled {
            Poll::Ready(connection) => Some(connection),
            Poll::Pending => {
                self.spawn(id, answering);
                None
            }
        }
    }

    /// Has a legacy client hear of changes from its first message after `initialize` on (LIFE-5).
    fn hear(&mut self) {
        if self.changes.is_none() {
            self.changes = Changes::begin(&self.host, &self.peer, self.answers.clone());
        }
    }

    /// Has an exchange run on beside the others.
    fn spawn(
        &mut self,
        id: Option<IdKey>,
        answering: impl Future<Output = Connection> + Send + 'static,
    ) {
        // A second request of the same id is refused by the table of calls.
        let id = id.filter(|id| !self.requests.contains_key(id));
        let key = id.clone();
        let task = self.exchanges.spawn(async move {
            Ended {
                connection: answering.await,
                id,
            }
        });
        if let Some(key) = key {
            self.requests.insert(key, task);
        }
    }

    fn forget(&mut self, ended: Ended) -> Connection {
        if let Some(id) = ended.id {
            self.requests.remove(&id);
        }
        ended.connection
    }

    /// Drops a cancelled request that is no call yet or no more: nothing is sent for it (STD-7). One whose call is
    /// running is left to the table of calls, which tells the application.
    fn give_up(&mut self, id: &IdKey) {
        let scope = Scope::Pipe(self.peer.number);
        if self.host.calls().find(&scope, Some(id)).is_empty()
            && let Some(request) = self.requests.remove(id)
        {
            request.abort();
        }
    }

    /// Ends what would go on for ever, lets running calls finish until `deadline`, then cancels those that have not. Those
    /// that asked their client something are cancelled at once: no line of its will be read.
    async fn drain(&mut self, deadline: time::Instant) {
        self.changes = None;
        self.close.tell();
        let scope = Scope::Pipe(self.peer.number);
        let (host, exchanges) = (&self.host, &mut self.exchanges);
        for call in host.calls().asking(&scope) {
            cancel(host, call, Unanswered::Draining, CancelReason::Drain);
        }
        let reason = tokio::select! {
            biased;
            () = self.answers.closed() => CancelReason::Gone,
            in_time = timeout_at(deadline, all_ended(exchanges)) => match in_time {
                Ok(()) => return,
                Err(_) => CancelReason::Drain,
            },
        };
        for call in host.calls().find(&scope, None) {
            cancel(host, call, Unanswered::Draining, reason);
        }
        // A cancelled exchange ends when it is polled next; one that waits for something else is dropped.
        let _ = timeout(LAST_WORDS, all_ended(exchanges)).await;
        exchanges.shutdown().await;
    }

    /// Has all answers written, as far as the client reads them.
    async fn flush(self, end: End) -> End {
        let Self {
            answers,
            written,
            _writing: writing,
            ..
        } = self;
        drop(answers);
        let outcome = timeout(FLUSH, written).await;
        drop(writing);
        match outcome {
            Ok(Ok(Ok(()))) => end,
            Ok(Ok(Err(fault))) => End::Fault(format!("writing failed: {fault}")),
            Ok(Err(_)) | Err(_) => End::Fault("the client does not read its answers".to_owned()),
        }
    }
}

/// The next line, once the answers before it have found room: a client that does not read is not read from.
async fn next_line(answers: &mpsc::Sender<Message>, input: &mut Input) -> io::Result<Option<Line>> {
    tokio::select! {
        biased;
        // The writer says below what went wrong.
        () = answers.closed() => Ok(None),
        line = async {
            // Queues behind every answer that waits for room.
            drop(answers.reserve().await);
            input.next().await
        } => line,
    }
}

async fn all_ended(exchanges: &mut JoinSet<Ended>) {
    while exchanges.join_next().await.is_some() {}
}

/// How long cancelled exchanges have to say so.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How long the client may take to read what is written last.
const FLUSH: Duration = Duration::from_secs(1);
