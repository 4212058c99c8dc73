//! Answers and their share of `max_buffered_bytes` (D8).

use mcp_protocol::{Answer, Exchange, Input, Step, Summary, Unanswered};

use crate::{buffers::Reservation, clock::now};

/// Reserves `room` for an answer, in place of what it held. Where there is none, the answer gives way to a short refusal.
pub(crate) fn held(
    mut room: Reservation,
    exchange: &mut Exchange,
    answer: Answer,
) -> (Answer, Reservation) {
    if room.resize(answer.body.len()) {
        return (answer, room);
    }
    match exchange.resume(now(), Input::Unanswered(Unanswered::NoRoom)) {
        Step::Answer(refusal) => (told_of(*refusal, answer.summary), room),
        // An exchange that is over wants nothing more.
        _ => (answer, room),
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
