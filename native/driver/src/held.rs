//! Answers and their share of `max_buffered_bytes` (D8).

use std::sync::Arc;

use mcp_protocol::{Answer, Exchange, Input, Step, Summary, Unanswered};

use crate::{
    buffers::{Buffers, Reservation},
    host::now,
};

/// Reserves room for an answer. Where there is none, the answer gives way to a short refusal.
pub(crate) fn held(
    buffers: &Arc<Buffers>,
    exchange: &mut Exchange,
    answer: Answer,
) -> (Answer, Reservation) {
    let mut room = buffers.reserve();
    if room.grow(answer.body.len()) {
        return (answer, room);
    }
    match exchange.resume(now(), Input::Unanswered(Unanswered::NoRoom)) {
        Step::Answer(refusal) => (told_of(*refusal, answer.summary), room),
        // An exchange that is over has nothing to ask.
        Step::Ask(_) | Step::Compute(_) | Step::Listen(_) | Step::Deliver(_) => (answer, room),
    }
}

/// The refusal of what `summary` is about.
fn told_of(refusal: Answer, summary: Summary) -> Answer {
    let Summary {
        code,
        refusal: word,
        ..
    } = refusal.summary;
    Answer {
        summary: Summary {
            code,
            refusal: word,
            ..summary
        },
        ..refusal
    }
}
