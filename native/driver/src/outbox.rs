//! A running call's messages on their way to its client: bounded, and nobody waits for room in it (D8).

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_protocol::{Frame, FrameKind, Input, Unanswered};
use tokio::sync::Notify;

use crate::{
    buffers::{Buffers, Reservation},
    calls::Spent,
};

/// The queue of one call, from its first message on: frames, then the outcome.
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// Told when something can be taken.
    ready: Notify,
    buffers: Arc<Buffers>,
}

/// What was taken out.
pub(crate) enum Taken {
    /// A message, and its share of `max_buffered_bytes`.
    Frame(Vec<u8>, Reservation),
    /// The response ends here for now.
    Break,
    /// The outcome: nothing follows.
    End(Input),
}

/// A message is not taken: the client does not read, and nothing of its kind may be lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Full;

#[derive(Default)]
struct Queue {
    frames: VecDeque<(Frame, Reservation)>,
    end: Option<End>,
}

struct End {
    outcome: Input,
    _room: Reservation,
    /// Freed where the outcome is taken.
    _spent: Spent,
}

impl Outbox {
    pub(crate) fn new(buffers: &Arc<Buffers>) -> Self {
        Self {
            queue: Mutex::default(),
            ready: Notify::new(),
            buffers: Arc::clone(buffers),
        }
    }

    /// Queues a frame. How many messages are lost by that, this one included; progress that newer progress stands in
    /// for is none of them.
    ///
    /// # Errors
    /// [`Full`] when there is no room and neither this frame nor one before it may be lost.
    pub(crate) fn push(&self, frame: Frame) -> Result<u64, Full> {
        let mut room = self.buffers.reserve();
        let mut queue = self.queue();
        queue.thin_out(frame.kind);
        let mut lost = 0;
        while queue.frames.len() >= MAX_FRAMES || !room.grow_spare(frame.bytes.len()) {
            match queue.make_way(frame.kind) {
                Some(FrameKind::Progress) => {}
                Some(_) => lost += 1,
                None if matches!(frame.kind, FrameKind::Other | FrameKind::Break) => {
                    return Err(Full);
                }
                None => return Ok(lost + 1),
            }
        }
        queue.frames.push_back((frame, room));
        drop(queue);
        self.ready.notify_one();
        Ok(lost)
    }

    /// Queues requests, all or none: whatever may be lost makes way for them. How many messages are lost by that.
    ///
    /// # Errors
    /// [`Full`] when there is no room for all of them.
    pub(crate) fn push_all(&self, requests: Vec<Frame>) -> Result<u64, Full> {
        let mut room = self.buffers.reserve();
        let mut rooms = Vec::with_capacity(requests.len());
        for request in &requests {
            match room.grow_spare(request.bytes.len()) {
                true => rooms.push(mem::replace(&mut room, self.buffers.reserve())),
                false => return Err(Full),
            }
        }
        let mut queue = self.queue();
        let passing = queue.count(FrameKind::Progress) + queue.count(FrameKind::Log);
        let lasting = queue.frames.len() - passing;
        if lasting + requests.len() > MAX_FRAMES {
            return Err(Full);
        }
        let mut lost = 0;
        while queue.frames.len() + requests.len() > MAX_FRAMES {
            if queue.remove(FrameKind::Progress).is_none() {
                queue.remove(FrameKind::Log);
                lost += 1;
            }
        }
        queue.frames.extend(requests.into_iter().zip(rooms));
        drop(queue);
        self.ready.notify_one();
        Ok(lost)
    }

    /// Queues the outcome behind all frames. `false` when there was one already.
    ///
    /// After a cancellation nothing more is sent (CAN-3), so that the frames are dropped. An outcome that there is no
    /// room for gives way to a refusal: the client may be one that never reads.
    pub(crate) fn end(&self, outcome: Input, spent: Spent) -> bool {
        let mut queue = self.queue();
        if queue.end.is_some() {
            return false;
        }
        if matches!(outcome, Input::Unanswered(Unanswered::Cancelled)) {
            queue.frames.clear();
        }
        let mut room = self.buffers.reserve();
        let outcome = match room.grow(bytes(&outcome)) {
            true => outcome,
            false => Input::Unanswered(Unanswered::NoRoom),
        };
        queue.end = Some(End {
            outcome,
            _room: room,
            _spent: spent,
        });
        drop(queue);
        self.ready.notify_one();
        true
    }

    /// Waits until something can be taken. Cancel safe.
    pub(crate) async fn ready(&self) {
        while self.queue().is_empty() {
            self.ready.notified().await;
        }
    }

    /// Whether the next frame is a request to the client.
    pub(crate) fn has_request_first(&self) -> bool {
        let queue = self.queue();
        let first = queue.frames.front();
        first.is_some_and(|(frame, _)| frame.kind == FrameKind::Request)
    }

    /// The next frame, or the outcome after the last one.
    pub(crate) fn take(&self) -> Option<Taken> {
        self.queue().take()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Progress takes the place of older progress once some frames wait: the newest says all.
    fn thin_out(&mut self, kind: FrameKind) {
        if kind == FrameKind::Progress && self.frames.len() >= MAX_BURST {
            self.remove(FrameKind::Progress);
        }
    }

    /// Drops what is worth least, for a frame of `kind`: progress that newer progress stands in for, then the oldest
    /// log message for anything that might be lost itself. The kind dropped.
    fn make_way(&mut self, kind: FrameKind) -> Option<FrameKind> {
        if kind == FrameKind::Progress || self.count(FrameKind::Progress) > 1 {
            return self
                .remove(FrameKind::Progress)
                .or_else(|| self.remove(FrameKind::Log));
        }
        match kind {
            FrameKind::Other | FrameKind::Break => None,
            _ => self.remove(FrameKind::Log),
        }
    }

    /// Drops the oldest frame of a kind, if there is one.
    fn remove(&mut self, kind: FrameKind) -> Option<FrameKind> {
        let oldest = self.frames.iter().position(|(frame, _)| frame.kind == kind);
        self.frames.remove(oldest?).map(|(frame, _)| frame.kind)
    }

    fn count(&self, kind: FrameKind) -> usize {
        let same = |(frame, _): &&(Frame, Reservation)| frame.kind == kind;
        self.frames.iter().filter(same).count()
    }

    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.end.is_none()
    }

    fn take(&mut self) -> Option<Taken> {
        match self.frames.pop_front() {
            Some((frame, _)) if frame.kind == FrameKind::Break => Some(Taken::Break),
            Some((mut frame, room)) => Some(Taken::Frame(mem::take(&mut frame.bytes), room)),
            None => self.end.take().map(|end| Taken::End(end.outcome)),
        }
    }
}

/// Frames that wait for a client; as a rule none does.
const MAX_FRAMES: usize = 128;

/// So many may wait before progress is thinned out: a client that reads gets each message of a handler that hurries.
const MAX_BURST: usize = 32;

fn bytes(outcome: &Input) -> usize {
    match outcome {
        Input::Outcome(outcome) => outcome.bytes(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use mcp_protocol::{CallOutcome, ToolResult};

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
                Taken::Frame(bytes, _) => String::from_utf8(bytes).unwrap(),
                Taken::Break => "break".into(),
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
            assert_eq!(outbox.push(frame(kind, text)), Ok(0));
        }
        assert!(outbox.end(Input::Unanswered(Unanswered::Failed), Spent::default()));
        assert!(!outbox.end(Input::Unanswered(Unanswered::Failed), Spent::default()));
        assert_eq!(rest(&outbox), ["log", "progress", "other", "end"]);
    }

    #[test]
    fn a_client_that_does_not_read_gets_the_newest() {
        let outbox = outbox();
        for number in 0..1_000 {
            let progress = frame(FrameKind::Progress, &format!("progress {number}"));
            assert_eq!(outbox.push(progress), Ok(0));
        }
        let lost: u64 = (0..1_000)
            .map(|number| {
                outbox
                    .push(frame(FrameKind::Log, &format!("log {number}")))
                    .unwrap()
            })
            .sum();
        assert_eq!(
            lost,
            1_000 - (MAX_FRAMES as u64 - 1),
            "the newest progress keeps its place"
        );
        assert_eq!(outbox.push(frame(FrameKind::Other, "other")), Err(Full));
        let rest = rest(&outbox);
        assert_eq!(rest.len(), MAX_FRAMES);
        assert_eq!(rest[0], "progress 999");
        assert_eq!(rest[1], format!("log {}", 1_000 - MAX_FRAMES + 1));
        assert_eq!(rest.last().unwrap(), "log 999");
    }

    #[test]
    fn a_burst_of_progress_is_kept() {
        let outbox = outbox();
        for number in 0..MAX_BURST {
            assert_eq!(
                outbox.push(frame(FrameKind::Progress, &number.to_string())),
                Ok(0)
            );
        }
        let all: Vec<String> = (0..MAX_BURST).map(|number| number.to_string()).collect();
        assert_eq!(rest(&outbox), all);
    }

    #[test]
    fn newer_progress_finds_the_place_of_older_in_a_full_queue() {
        let outbox = outbox();
        outbox.push(frame(FrameKind::Progress, "1")).unwrap();
        for _ in 1..MAX_FRAMES {
            outbox.push(frame(FrameKind::Other, "other")).unwrap();
        }
        assert_eq!(outbox.push(frame(FrameKind::Progress, "2")), Ok(0));
        let rest = rest(&outbox);
        assert_eq!(
            (rest.len(), rest.last().unwrap().as_str()),
            (MAX_FRAMES, "2")
        );
    }

    #[test]
    fn requests_displace_what_may_be_lost_and_come_whole() {
        let outbox = outbox();
        for _ in 0..MAX_FRAMES / 2 {
            outbox.push(frame(FrameKind::Other, "other")).unwrap();
        }
        for _ in 0..MAX_FRAMES / 2 {
            outbox.push(frame(FrameKind::Log, "log")).unwrap();
        }
        let requests = |count| (0..count).map(|_| frame(FrameKind::Request, "request"));
        assert_eq!(outbox.push_all(requests(10).collect()), Ok(10));
        assert_eq!(outbox.push_all(requests(60).collect()), Err(Full));
        let rest = rest(&outbox);
        assert_eq!(rest.len(), MAX_FRAMES);
        assert_eq!(rest.iter().filter(|text| *text == "request").count(), 10);
    }

    #[test]
    fn a_full_budget_loses_what_may_be_lost() {
        let outbox = Outbox::new(&Buffers::new(8));
        assert_eq!(outbox.push(frame(FrameKind::Other, "four")), Ok(0));
        assert_eq!(outbox.push(frame(FrameKind::Log, "l")), Ok(1));
        assert_eq!(outbox.push(frame(FrameKind::Progress, "p")), Ok(1));
        assert_eq!(outbox.push(frame(FrameKind::Other, "o")), Err(Full));
        assert_eq!(rest(&outbox), ["four"]);
        assert_eq!(outbox.push(frame(FrameKind::Log, "l")), Ok(0));
    }

    #[test]
    fn clients_that_do_not_read_leave_room_for_others() {
        let buffers = Buffers::new(100);
        let outboxes: Vec<Outbox> = (0..10).map(|_| Outbox::new(&buffers)).collect();
        for kind in [FrameKind::Other, FrameKind::Log, FrameKind::Progress] {
            for outbox in &outboxes {
                let _ = outbox.push(frame(kind, "ten bytes."));
                let _ = outbox.push_all(vec![frame(FrameKind::Request, "ten bytes.")]);
            }
        }
        assert_eq!(buffers.held(), 50);
    }

    #[test]
    fn what_may_not_be_lost_finds_the_place_of_stale_progress() {
        let outbox = outbox();
        for number in 0..MAX_BURST {
            outbox
                .push(frame(FrameKind::Progress, &number.to_string()))
                .unwrap();
        }
        let taken = (0..).take_while(|_| outbox.push(frame(FrameKind::Other, "other")).is_ok());
        assert_eq!(taken.count(), MAX_FRAMES - 1);
        assert_eq!(rest(&outbox)[0], (MAX_BURST - 1).to_string());
    }

    #[test]
    fn a_lost_log_message_is_counted_whatever_it_gave_way_to() {
        let outbox = outbox();
        for _ in 0..MAX_FRAMES {
            assert_eq!(outbox.push(frame(FrameKind::Log, "log")), Ok(0));
        }
        assert_eq!(outbox.push(frame(FrameKind::Progress, "progress")), Ok(1));
        assert_eq!(outbox.push(frame(FrameKind::Log, "log")), Ok(1));
        assert_eq!(rest(&outbox).len(), MAX_FRAMES);
    }

    #[test]
    fn nothing_is_sent_after_a_cancellation() {
        let outbox = outbox();
        outbox.push(frame(FrameKind::Other, "other")).unwrap();
        assert!(outbox.end(Input::Unanswered(Unanswered::Cancelled), Spent::default()));
        assert_eq!(rest(&outbox), ["end"]);
        assert_eq!(outbox.buffers.held(), 0);
    }

    #[test]
    fn an_outcome_without_room_gives_way_to_a_refusal() {
        let outbox = Outbox::new(&Buffers::new(100));
        let large = ToolResult {
            content: vec![b' '; 101],
            ..ToolResult::default()
        };
        assert!(outbox.end(Input::Outcome(CallOutcome::Tool(large)), Spent::default()));
        let taken = outbox.take();
        assert!(matches!(
            taken,
            Some(Taken::End(Input::Unanswered(Unanswered::NoRoom)))
        ));
    }
}
