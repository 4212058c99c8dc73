//! One line's way to its answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_driver::{Event, Host, Part, Served, Stream, now, run};
use mcp_protocol::{
    Answer, Ask, BodyFault, Connection, Exchange, Input, Question, Step, Unanswered,
};
use tokio::sync::mpsc;

use crate::closing::Closing;

/// Runs one exchange and sends its answer.
pub(crate) struct Reply<H> {
    pub(crate) host: Arc<H>,
    pub(crate) answers: mpsc::Sender<Vec<u8>>,
    pub(crate) request_bytes: usize,
    /// When the line was taken up.
    pub(crate) started: Instant,
    /// Whether the exchange is reported as an event.
    pub(crate) record: bool,
    /// Told when the pipe ends.
    pub(crate) closing: Closing,
}

impl<H: Host> Reply<H> {
    /// Runs `exchange` to its end; what then becomes of the pipe.
    pub(crate) async fn send(self, mut exchange: Exchange, mut step: Step) -> Connection {
        let mut held = self.host.buffers().reserve();
        if !held.grow(self.request_bytes) {
            step = refuse(&mut exchange, step);
        }
        let no_body = async |_| Input::BodyFault(BodyFault::Broken);
        let (mut answer, farewell) = match run(&self.host, exchange, step, no_body).await {
            Served::Answer(answer) => (answer, None),
            Served::Stream(mut stream) => {
                let answer = self.pass_on(&mut stream).await;
                (answer, stream.farewell())
            }
        };
        let body = std::mem::take(&mut answer.body);
        let connection = answer.connection;
        self.report(answer, body.len());
        if !body.is_empty() {
            // Nobody is left to read it when the pipe has ended meanwhile.
            let _ = self.answers.send(body).await;
        }
        if let Some(farewell) = farewell {
            let _ = self.answers.send(farewell).await;
        }
        connection
    }

    /// Sends messages as they come; the answer.
    async fn pass_on(&self, stream: &mut Stream<H>) -> Answer {
        loop {
            match stream
                .next(Duration::MAX, self.closing.clone().told())
                .await
            {
                Part::Frame(message) => {
                    // Nobody is left to read it when the pipe has ended meanwhile.
                    let _ = self.answers.send(message).await;
                }
                Part::Quiet => {}
                Part::Answer(answer) => return *answer,
            }
        }
    }

    fn report(&self, answer: Answer, response_bytes: usize) {
        if let Some(message) = answer.summary.host_fault.clone() {
            self.host.record(Event::HostFault {
                definition: answer.summary.definition.clone(),
                message,
            });
        }
        if self.record {
            self.host.record(Event::Request {
                summary: answer.summary,
                transport: "stdio",
                status: 0,
                duration_us: self.started.elapsed().as_micros() as u64,
                request_bytes: self.request_bytes,
                response_bytes,
            });
        }
    }
}

/// The step of an exchange that finds no room for its line: it waits for nothing. A cancellation, which frees room,
/// and an answer that is there already are let through.
fn refuse(exchange: &mut Exchange, step: Step) -> Step {
    let harmless = match &step {
        Step::Answer(_) => true,
        Step::Ask(question) => matches!(
            **question,
            Question {
                ask: Ask::Cancel { .. },
                ..
            }
        ),
        Step::Compute(_) | Step::Listen(_) | Step::Deliver(_) => false,
    };
    match harmless {
        true => step,
        false => exchange.resume(now(), Input::Unanswered(Unanswered::Busy)),
    }
}
