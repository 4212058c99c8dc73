//! A running call's messages on their way to its client: bounded, and nobody waits for room in it (D8).

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_protocol::{Frame, FrameKind, Input};
use tokio::sync::Notify;

use crate::buffers::{Buffers, Reservation};

/// The queue of one call, from its first message on: frames, then the outcome.
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// Told when something can be taken.
    ready: Notify,
    buffers: Arc<Buffers>,
}

/// What was taken out.
pub(crate) enum Taken {
    Frame(Vec<u8>),
    End(Input),
}

/// What became of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    /// It goes out, unless newer ones take its place before the client reads.
    Queued,
    /// It is lost, or an older one in its place.
    Dropped,
    /// It is not taken: the client does not read, and nothing of its kind may be lost.
    Refused,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<(Frame, Reservation)>,
    end: Option<Input>,
}

impl Outbox {
    pub(crate) fn new(buffers: &Arc<Buffers>) -> Self {
        Self {
            queue: Mutex::default(),
            ready: Notify::new(),
            buffers: Arc::clone(buffers),
        }
    }

    /// Queues a frame, by what may happen to its kind when the client does not read: a newer progress message takes
    /// the place of the oldest once some frames wait, a new log message once the queue is full; anything else is then
    /// refused.
    pub(crate) fn push(&self, frame: Frame) -> Fate {
        let mut room = self.buffers.reserve();
        let fits = room.grow(frame.bytes.len());
        let mut queue = self.queue();
        let full = queue.frames.len() >= MAX_FRAMES;
        let lost = match frame.kind {
            FrameKind::Progress if fits && queue.frames.len() >= MAX_BURST => {
                !queue.remove(FrameKind::Progress) && full && !queue.remove(FrameKind::Log)
            }
            FrameKind::Progress => !fits,
            FrameKind::Log if fits && full => !queue.remove(FrameKind::Log),
            FrameKind::Log => !fits,
            FrameKind::Other | FrameKind::Request if fits && !full => false,
            FrameKind::Other | FrameKind::Request => return Fate::Refused,
        };
        let displaced = full && frame.kind == FrameKind::Log;
        if !lost {
            queue.frames.push_back((frame, room));
            drop(queue);
            self.ready.notify_one();
        }
        match lost || displaced {
            true => Fate::Dropped,
            false => Fate::Queued,
        }
    }

    /// Queues requests, all or none: progress and log messages make room for them. How many were dropped for it; `None`
    /// when the requests are not taken.
    pub(crate) fn push_all(&self, requests: Vec<Frame>) -> Option<u64> {
        let mut queue = self.queue();
        let lasting = |(frame, _): &&(Frame, Reservation)| {
            matches!(frame.kind, FrameKind::Other | FrameKind::Request)
        };
        let kept = queue.frames.iter().filter(lasting).count();
        let mut rooms = Vec::with_capacity(requests.len());
        for request in &requests {
            let mut room = self.buffers.reserve();
            if !room.grow(request.bytes.len()) {
                return None;
            }
            rooms.push(room);
        }
        if kept + requests.len() > MAX_FRAMES {
            return None;
        }
        let mut dropped = 0;
        while queue.frames.len() + requests.len() > MAX_FRAMES {
            dropped += 1;
            let _ = queue.remove(FrameKind::Progress) || queue.remove(FrameKind::Log);
        }
        queue.frames.extend(requests.into_iter().zip(rooms));
        drop(queue);
        self.ready.notify_one();
        Some(dropped)
    }

    /// Queues the outcome behind all frames. `false` when there was one already.
    pub(crate) fn end(&self, outcome: Input) -> bool {
        let mut queue = self.queue();
        let first = queue.end.is_none();
        if first {
            queue.end = Some(outcome);
            drop(queue);
            self.ready.notify_one();
        }
        first
    }

    /// The next frame, or the outcome after the last one. Cancel safe.
    pub(crate) async fn take(&self) -> Taken {
        loop {
            let ready = self.ready.notified();
            if let Some(taken) = self.queue().take() {
                return taken;
            }
            ready.await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Drops the oldest frame of a kind, if there is one.
    fn remove(&mut self, kind: FrameKind) -> bool {
        let oldest = self.frames.iter().position(|(frame, _)| frame.kind == kind);
        oldest
            .and_then(|position| self.frames.remove(position))
            .is_some()
    }

    fn take(&mut self) -> Option<Taken> {
        match self.frames.pop_front() {
            Some((mut frame, _)) => Some(Taken::Frame(mem::take(&mut frame.bytes))),
            None => self.end.take().map(Taken::End),
        }
    }
}

/// Frames that wait for a client; as a rule none does.
const MAX_FRAMES: usize = 128;

/// So many may wait before progress is thinned out: a client that reads gets each message of a handler that hurries.
const MAX_BURST: usize = 32;

#[cfg(test)]
mod tests {
    use mcp_protocol::Unanswered;

    use super::*;

    fn frame(kind: FrameKind, text: &str) -> Frame {
        Frame {
            kind,
            bytes: text.as_bytes().to_vec(),
        }
    }

    fn outbox() -> Outbox {
        Outbox::new(&Buffers::new(1 << 20))
    }

    fn rest(outbox: &Outbox) -> Vec<String> {
        let mut queue = outbox.queue();
        std::iter::from_fn(|| queue.take())
            .map(|taken| match taken {
                Taken::Frame(bytes) => String::from_utf8(bytes).unwrap(),
                Taken::End(_) => "end".into(),
            })
            .collect()
    }

    #[test]
    fn keeps_the_order_and_ends_with_the_outcome() {
        let outbox = outbox();
        for (kind, text) in [
            (FrameKind::Log, "log"),
            (FrameKind::Progress, "progress"),
            (FrameKind::Other, "other"),
        ] {
            assert_eq!(outbox.push(frame(kind, text)), Fate::Queued);
        }
        assert!(outbox.end(Input::Unanswered(Unanswered::Failed)));
        assert!(!outbox.end(Input::Unanswered(Unanswered::Failed)));
        assert_eq!(rest(&outbox), ["log", "progress", "other", "end"]);
    }

    #[test]
    fn a_client_that_does_not_read_gets_the_newest() {
        let outbox = outbox();
        for number in 0..1_000 {
            let progress = frame(FrameKind::Progress, &format!("progress {number}"));
            assert_eq!(outbox.push(progress), Fate::Queued);
        }
        let fates: Vec<Fate> = (0..1_000)
            .map(|number| outbox.push(frame(FrameKind::Log, &format!("log {number}"))))
            .collect();
        assert!(
            fates[..MAX_FRAMES - MAX_BURST]
                .iter()
                .all(|fate| *fate == Fate::Queued)
        );
        assert!(
            fates[MAX_FRAMES..]
                .iter()
                .all(|fate| *fate == Fate::Dropped)
        );
        assert_eq!(outbox.push(frame(FrameKind::Other, "other")), Fate::Refused);
        let rest = rest(&outbox);
        assert_eq!(rest.len(), MAX_FRAMES);
        assert_eq!(rest[0], format!("progress {}", 1_000 - MAX_BURST));
        assert_eq!(rest[MAX_BURST - 1], "progress 999");
        assert_eq!(rest.last().unwrap(), "log 999");
    }

    #[test]
    fn a_burst_of_progress_is_kept() {
        let outbox = outbox();
        for number in 0..MAX_BURST {
            outbox.push(frame(FrameKind::Progress, &number.to_string()));
        }
        let all: Vec<String> = (0..MAX_BURST).map(|number| number.to_string()).collect();
        assert_eq!(rest(&outbox), all);
    }

    #[test]
    fn newer_progress_finds_the_place_of_older_in_a_full_queue() {
        let outbox = outbox();
        outbox.push(frame(FrameKind::Progress, "1"));
        for _ in 1..MAX_FRAMES {
            outbox.push(frame(FrameKind::Other, "other"));
        }
        assert_eq!(outbox.push(frame(FrameKind::Progress, "2")), Fate::Queued);
        let rest = rest(&outbox);
        assert_eq!(
            (rest.len(), rest.last().unwrap().as_str()),
            (MAX_FRAMES, "2")
        );
    }

    #[test]
    fn a_full_budget_loses_what_may_be_lost() {
        let outbox = Outbox::new(&Buffers::new(4));
        assert_eq!(outbox.push(frame(FrameKind::Other, "four")), Fate::Queued);
        assert_eq!(outbox.push(frame(FrameKind::Log, "l")), Fate::Dropped);
        assert_eq!(outbox.push(frame(FrameKind::Progress, "p")), Fate::Dropped);
        assert_eq!(outbox.push(frame(FrameKind::Other, "o")), Fate::Refused);
        assert_eq!(rest(&outbox), ["four"]);
        assert_eq!(outbox.push(frame(FrameKind::Log, "l")), Fate::Queued);
    }
}
