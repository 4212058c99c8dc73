//! The native threads of the VM (D14): started once, by whichever instance comes first, and never ended.

use std::{
    io,
    sync::{Mutex, OnceLock, PoisonError},
    thread,
};

use mcp_http::Workers;

static WORKERS: OnceLock<Workers> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());

/// The threads; `threads` counts when they are not running yet, 0 standing for half the processors, 1 to 4.
pub(crate) fn started(threads: usize) -> io::Result<&'static Workers> {
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = WORKERS.get() {
        return Ok(running);
    }
    let workers = Workers::start(if threads == 0 {
        default_threads()
    } else {
        threads
    })?;
    Ok(WORKERS.get_or_init(|| workers))
}

/// Runs `work` on a thread that is neither a scheduler nor serves sockets: for what takes long to free, and for
/// messages, which only such a thread may send.
pub(crate) fn elsewhere(work: impl FnOnce() + Send + 'static) {
    match WORKERS.get() {
        Some(workers) => drop(workers.next().spawn_blocking(work)),
        None => work(),
    }
}

fn default_threads() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    (processors / 2).clamp(1, 4)
}
