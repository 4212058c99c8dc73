//! The native threads that serve every connection of the process.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use mcp_driver::ServingRuntime;
use tokio::runtime::{Builder, Handle};

/// Threads with one current-thread runtime each (design D14), started once and never ended.
///
/// A connection lives on one of them from accept to close, so that serving it takes no lock and wakes no other thread.
/// Clones stand for the same threads.
#[derive(Clone, Debug)]
pub struct Workers {
    handles: Arc<[Handle]>,
    next: Arc<AtomicUsize>,
}

impl Workers {
    /// Starts `count` threads, at least one.
    ///
    /// # Errors
    /// What the system says when it gives no thread or no poller.
    pub fn start(count: usize) -> io::Result<Self> {
        let handles = (0..count.max(1))
            .map(start_one)
            .collect::<io::Result<_>>()?;
        Ok(Self {
            handles,
            next: Arc::default(),
        })
    }

    /// The threads' runtimes in turn.
    pub fn next(&self) -> &Handle {
        self.handle(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// The runtime of thread `index`, counted round.
    pub fn handle(&self, index: usize) -> &Handle {
        &self.handles[index % self.handles.len()]
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.handles.len()
    }
}

fn start_one(index: usize) -> io::Result<Handle> {
    let mut builder = Builder::new_current_thread();
    builder
        .enable_io()
        .enable_time()
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_name("mcp-compute");
    let runtime = ServingRuntime::new(&mut builder)?;
    let handle = runtime.handle().clone();
    thread::Builder::new()
        .name(format!("mcp-worker-{index}"))
        .spawn(move || runtime.serve())?;
    Ok(handle)
}

/// Threads for checks too long for a serving thread, per worker. More checks wait; calls in flight bound how many.
const MAX_BLOCKING_THREADS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_turns() {
        let workers = Workers::start(2).unwrap();
        let ids: Vec<_> = (0..4).map(|_| workers.next().id()).collect();
        assert_eq!(ids[0], ids[2]);
        assert_eq!(ids[1], ids[3]);
        assert_ne!(ids[0], ids[1]);
    }

    #[test]
    fn starts_at_least_one() {
        assert_eq!(Workers::start(0).unwrap().count(), 1);
    }
}
