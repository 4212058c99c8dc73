//! The last events of a stream that a client may resume (MCP 2025-11-25 basic/transports, "Resumability and
//! Redelivery"): bounded, and counted against the instance's budget.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
};

use mcp_protocol::{EventId, StreamKind};

use crate::buffers::{Buffers, Reservation};

/// The events of one stream, and where it stands.
pub(crate) struct Replay {
    kind: StreamKind,
    stream: Arc<str>,
    /// How many events there were.
    last: u64,
    kept: VecDeque<(Vec<u8>, Reservation)>,
    buffers: Arc<Buffers>,
}

impl Replay {
    /// A stream with a name that no other has, of this node or another.
    pub(crate) fn new(kind: StreamKind, buffers: &Arc<Buffers>) -> Self {
        let random = || RandomState::new().build_hasher().finish();
        Self {
            kind,
            stream: format!("{:016x}{:016x}", random(), random()).into(),
            last: 0,
            kept: VecDeque::new(),
            buffers: Arc::clone(buffers),
        }
    }

    /// Where the stream stands: after its last event.
    pub(crate) fn place(&self) -> EventId {
        EventId {
            kind: self.kind,
            stream: Arc::clone(&self.stream),
            number: self.last,
        }
    }

    /// The next event, made at its place and kept. Without room nothing is kept: who resumes is told that events are
    /// missing.
    pub(crate) fn push(&mut self, make: impl FnOnce(&EventId) -> Vec<u8>) -> Vec<u8> {
        self.last += 1;
        let event = make(&self.place());
        let mut room = self.buffers.reserve();
        if !room.grow_spare(event.len()) {
            self.kept.clear();
            return event;
        }
        if self.kept.len() == MAX_EVENTS {
            self.kept.pop_front();
        }
        self.kept.push_back((event.clone(), room));
        event
    }

    /// The events after `place`; `None` where some of them are not kept, or the place is another stream's.
    pub(crate) fn after(&self, place: &EventId) -> Option<Vec<Vec<u8>>> {
        let missed = match self.stream == place.stream {
            true => self.last.checked_sub(place.number)?,
            false => return None,
        };
        let first = self.kept.len().checked_sub(usize::try_from(missed).ok()?)?;
        Some(
            self.kept
                .range(first..)
                .map(|(event, _)| event.clone())
                .collect(),
        )
    }
}

/// Events that are kept of one stream.
const MAX_EVENTS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(events: u64, limit: usize) -> Replay {
        let mut replay = Replay::new(StreamKind::Get, &Buffers::new(limit));
        for _ in 0..events {
            replay.push(|place| place.number.to_string().into_bytes());
        }
        replay
    }

    fn after(replay: &Replay, number: u64) -> Option<String> {
        let place = EventId {
            number,
            ..replay.place()
        };
        let events = replay.after(&place)?.concat();
        Some(String::from_utf8(events).expect("digits"))
    }

    #[test]
    fn plays_what_came_after_a_place() {
        let replay = replay(5, usize::MAX);
        assert_eq!(after(&replay, 5).as_deref(), Some(""));
        assert_eq!(after(&replay, 3).as_deref(), Some("45"));
        assert_eq!(after(&replay, 0).as_deref(), Some("12345"));
        assert_eq!(after(&replay, 6), None, "a place to come");
    }

    #[test]
    fn says_when_events_are_gone() {
        let most = MAX_EVENTS as u64;
        let long = replay(most + 2, usize::MAX);
        assert!(after(&long, 2).is_some());
        assert_eq!(after(&long, 1), None);
        assert_eq!(after(&replay(3, 0), 2), None, "nothing was kept");
        assert_eq!(
            replay(1, 9).after(&replay(1, 9).place()),
            None,
            "another stream"
        );
    }

    #[test]
    fn leaves_room_for_requests() {
        let buffers = Buffers::new(1_000);
        let mut replays: Vec<Replay> = (0..10)
            .map(|_| Replay::new(StreamKind::Post, &buffers))
            .collect();
        for _ in 0..MAX_EVENTS {
            for replay in &mut replays {
                replay.push(|_| vec![0; 100]);
            }
        }
        assert!(buffers.reserve().grow(500));
    }

    #[test]
    fn gives_its_bytes_back() {
        let buffers = Buffers::new(1_000);
        let mut replay = Replay::new(StreamKind::Get, &buffers);
        replay.push(|_| vec![0; 100]);
        assert_eq!(buffers.held(), 100);
        drop(replay);
        assert_eq!(buffers.held(), 0);
    }
}
