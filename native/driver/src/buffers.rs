//! One budget for the bytes that an instance holds for its peers.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts the bytes of bodies, lines and answers that are held against `max_buffered_bytes`.
#[derive(Debug)]
pub struct Buffers {
    held: AtomicUsize,
    limit: usize,
}

/// A share of the budget, given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    buffers: Arc<Buffers>,
    bytes: usize,
}

impl Buffers {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            held: AtomicUsize::new(0),
            limit,
        })
    }

    /// An empty share, to be grown as bytes arrive.
    pub fn reserve(self: &Arc<Self>) -> Reservation {
        Reservation {
            buffers: Arc::clone(self),
            bytes: 0,
        }
    }

    /// Bytes held now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

impl Reservation {
    /// Takes `bytes` more; `false`, and nothing taken, when the budget has no room.
    pub fn grow(&mut self, bytes: usize) -> bool {
        self.grow_below(self.buffers.limit, bytes)
    }

    /// The same for what can be done without: it leaves half of the budget to requests and their answers.
    pub(crate) fn grow_spare(&mut self, bytes: usize) -> bool {
        self.grow_below(self.buffers.limit / 2, bytes)
    }

    /// Holds `bytes` in place of what it holds; `false`, and nothing changed, when the budget has no room.
    pub(crate) fn resize(&mut self, bytes: usize) -> bool {
        let Some(less) = self.bytes.checked_sub(bytes) else {
            return self.grow(bytes - self.bytes);
        };
        self.buffers.held.fetch_sub(less, Ordering::Relaxed);
        self.bytes = bytes;
        true
    }

    fn grow_below(&mut self, limit: usize, bytes: usize) -> bool {
        let grown = self
            .buffers
            .held
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
                held.checked_add(bytes).filter(|total| *total <= limit)
            })
            .is_ok();
        if grown {
            self.bytes += bytes;
        }
        grown
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.buffers.held.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_it_took() {
        let buffers = Buffers::new(10);
        let mut first = buffers.reserve();
        assert!(first.grow(6));
        let mut second = buffers.reserve();
        assert!(!second.grow(5));
        assert!(second.grow(4));
        drop(first);
        assert_eq!(buffers.held(), 4);
        drop(second);
        assert_eq!(buffers.held(), 0);
    }

    #[test]
    fn holds_one_thing_in_place_of_another() {
        let buffers = Buffers::new(10);
        let mut share = buffers.reserve();
        for (bytes, fits) in [(6, true), (2, true), (10, true), (11, false), (0, true)] {
            let before = buffers.held();
            assert_eq!(share.resize(bytes), fits);
            assert_eq!(buffers.held(), if fits { bytes } else { before });
        }
    }

    #[test]
    fn what_can_be_done_without_leaves_half_of_the_budget() {
        let buffers = Buffers::new(10);
        let (mut spare, mut needed) = (buffers.reserve(), buffers.reserve());
        assert!(spare.grow_spare(5));
        assert!(!spare.grow_spare(1));
        assert!(needed.grow(5));
    }
}
