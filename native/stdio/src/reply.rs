//! One line's way to its answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_driver::{Event, Host, Part, Reservation, Served, Stream, now, run};
use mcp_protocol::{
    Answer, Ask, BodyFault, Connection, Exchange, Input, Question, Step, Unanswered,
};
use tokio::sync::mpsc;

use crate::{closing::Closing, writer::Message};

/// Runs one exchange and sends its answer.
pub(crate) struct Reply<H> {
    pub(crate) host: Arc<H>,
    pub(crate) answers: mpsc::Sender<Message>,
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
    pub(crate) async fn send(self, mut exchange: Box<Exchange>, mut step: Step) -> Connection {
        let mut held = self.host.buffers().reserve();
        if !held.grow(self.request_bytes) {
            step = refuse(&mut exchange, step);
        }
        let no_body = async |_, _: &mut Reservation| Input::BodyFault(BodyFault::Broken);
        let no_guard = async |_| Input::Unanswered(Unanswered::Failed);
        let room = self.host.buffers().reserve();
        let served = run(&self.host, exchange, step, room, no_body, no_guard).await;
        let (mut answer, room, farewell) = match served {
            Served::Answer(answer, room) => (answer, room, None),
            Served::Stream(mut stream) => {
                let (answer, room) = self.pass_on(&mut stream).await;
                (answer, room, stream.farewell())
            }
        };
        let bytes = std::mem::take(&mut answer.body);
        let connection = answer.connection;
        self.report(answer, bytes.len());
        if !bytes.is_empty() {
            // Nobody is left to read it when the pipe has ended meanwhile.
            let _ = self.answers.send(Message { bytes, room }).await;
        }
        if let Some(bytes) = farewell {
            let room = self.host.buffers().reserve();
            let _ = self.answers.send(Message { bytes, room }).await;
        }
        connection
    }

    /// Sends messages as they come; the answer.
    ///
    /// A message is taken when there is room for it: until then it waits where newer ones may take its place, and
    /// where a cancellation drops it.
    async fn pass_on(&self, stream: &mut Stream<H>) -> (Answer, Reservation) {
        loop {
            stream.ready(self.closing.clone().told()).await;
            let place = self.answers.reserve().await;
            let closing = self.closing.clone().told();
            match stream.next(Duration::ZERO, closing).await {
                Part::Frame(bytes, room) => {
                    // Nobody is left to read it when the pipe has ended meanwhile.
                    if let Ok(place) = place {
                        place.send(Message { bytes, room });
                    }
                }
                // A pipe has nowhere to come back from.
                Part::Quiet | Part::Break => {}
                Part::Answer(answer, room) => return (*answer, room),
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

/// The step of an exchange that finds no room for its line: it waits for nothing. A cancellation and a response,
/// which let calls end and so free room, and an answer that is there already are let through.
fn refuse(exchange: &mut Exchange, step: Step) -> Step {
    let harmless = match &step {
        Step::Answer(_) => true,
        Step::Ask(question) => matches!(
            **question,
            Question {
                ask: Ask::Cancel { .. } | Ask::Hear { .. },
                ..
            }
        ),
        Step::ReadBody { .. } | Step::Compute(_) | Step::Listen(_) | Step::Deliver(_) => false,
    };
    match harmless {
        true => step,
        false => exchange.resume(now(), Input::Unanswered(Unanswered::NoRoom)),
    }
}
