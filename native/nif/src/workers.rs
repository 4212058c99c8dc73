//! The native threads of the VM (D14): started once, by whichever instance comes first, and never ended.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, OnceLock, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use mcp_http::Workers;

/// The threads that serve sockets, and one for what would hold them up.
struct Threads {
    workers: Workers,
    chores: Sender<Chore>,
}

type Chore = Box<dyn FnOnce() + Send>;

static THREADS: OnceLock<Threads> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());

/// The threads; `threads` counts when they are not running yet, 0 standing for half the processors, 1 to 4.
pub(crate) fn started(threads: usize) -> io::Result<&'static Workers> {
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = THREADS.get() {
        return Ok(&running.workers);
    }
    let count = if threads == 0 {
        default_threads()
    } else {
        threads
    };
    let (chores, waiting) = channel();
    thread::Builder::new()
        .name("mcp-chores".to_owned())
        .spawn(move || run(&waiting))?;
    let workers = Workers::start(count)?;
    Ok(&THREADS.get_or_init(|| Threads { workers, chores }).workers)
}

/// Runs `work` on a thread that is neither a scheduler nor serves sockets: for what takes long to free, and for
/// messages, which only such a thread may send.
pub(crate) fn elsewhere(work: impl FnOnce() + Send + 'static) {
    match THREADS.get() {
        // The thread never ends, so that somebody receives this.
        Some(threads) => drop(threads.chores.send(Box::new(work))),
        None => work(),
    }
}

/// Runs a future on one of the threads that serve sockets, if they run.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    if let Some(threads) = THREADS.get() {
        threads.workers.next().spawn(future);
    }
}

fn run(waiting: &Receiver<Chore>) {
    for chore in waiting {
        // One that fails leaves the others to be done.
        let _ = catch_unwind(AssertUnwindSafe(chore));
    }
}

fn default_threads() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    (processors / 2).clamp(1, 4)
}
