//! The BEAM processes that start one for each call (D7): calls that become ready in one turn of a native thread go in one message.

use std::{
    cell::RefCell,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};

use arc_swap::ArcSwap;
use mcp_driver::{CallNumber, CancelReason, Route};
use rustler::{Atom, Encoder, Env, LocalPid, OwnedEnv, Term};

use crate::atoms;

/// One process, and the calls that the next message to it will name.
pub(crate) struct Dispatcher {
    route: Route,
    pid: LocalPid,
    pending: Mutex<Vec<CallNumber>>,
}

/// The processes of an instance.
pub(crate) struct Dispatchers {
    all: ArcSwap<Vec<Arc<Dispatcher>>>,
    next_route: AtomicU32,
    /// Counts messages sent, so that each goes to the next process.
    turn: AtomicUsize,
}

/// The process is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone;

impl Dispatchers {
    pub(crate) fn new() -> Self {
        Self {
            all: ArcSwap::default(),
            next_route: AtomicU32::new(0),
            turn: AtomicUsize::new(0),
        }
    }

    /// Lets a process take calls.
    pub(crate) fn add(&self, pid: LocalPid) {
        let route = Route(self.next_route.fetch_add(1, Ordering::Relaxed));
        let added = Arc::new(Dispatcher {
            route,
            pid,
            pending: Mutex::default(),
        });
        self.all.rcu(|all| {
            let kept = all.iter().filter(|one| one.pid != pid);
            kept.cloned()
                .chain([Arc::clone(&added)])
                .collect::<Vec<_>>()
        });
    }

    /// Sends nothing more to a process. Its route, when it took calls.
    pub(crate) fn remove(&self, pid: LocalPid) -> Option<Route> {
        let before = self.all.rcu(|all| {
            all.iter()
                .filter(|one| one.pid != pid)
                .cloned()
                .collect::<Vec<_>>()
        });
        before
            .iter()
            .find(|one| one.pid == pid)
            .map(|one| one.route)
    }

    /// Who takes the next call: the same process until its message is sent, then the next one.
    pub(crate) fn route(&self) -> Option<Route> {
        let all = self.all.load();
        let turn = self.turn.load(Ordering::Relaxed);
        all.get(turn.checked_rem(all.len())?).map(|one| one.route)
    }

    /// Adds a call to the next message of a process; the process, when a message has to be arranged for.
    pub(crate) fn push(
        &self,
        route: Route,
        call: CallNumber,
    ) -> Result<Option<Arc<Dispatcher>>, Gone> {
        let all = self.all.load();
        let dispatcher = all.iter().find(|one| one.route == route).ok_or(Gone)?;
        Ok(dispatcher.push(call).then(|| Arc::clone(dispatcher)))
    }

    /// Sends what waits for a process and passes the turn on.
    pub(crate) fn flush(&self, to: &Dispatcher) -> Result<(), Gone> {
        self.turn.fetch_add(1, Ordering::Relaxed);
        send(to.pid, |env| {
            (atoms::beam_mcp(), atoms::calls(), to.take_pending(env)).encode(env)
        })
    }

    /// Has one of the processes stop a call that `worker` runs.
    pub(crate) fn cancel(&self, call: CallNumber, worker: LocalPid, reason: CancelReason) {
        let message = |env| {
            (
                atoms::beam_mcp(),
                atoms::cancel(),
                call,
                worker,
                word(reason),
            )
                .encode(env)
        };
        let _ = self
            .all
            .load()
            .iter()
            .any(|one| send(one.pid, message).is_ok());
    }

    pub(crate) fn len(&self) -> usize {
        self.all.load().len()
    }
}

impl Dispatcher {
    pub(crate) fn route(&self) -> Route {
        self.route
    }

    /// Whether the call is the first of the next message.
    fn push(&self, call: CallNumber) -> bool {
        let mut pending = self.pending();
        pending.push(call);
        pending.len() == 1
    }

    fn take_pending<'a>(&self, env: Env<'a>) -> Term<'a> {
        let mut pending = self.pending();
        let empty = Term::list_new_empty(env);
        pending.drain(..).rev().fold(empty, Term::list_prepend)
    }

    fn pending(&self) -> MutexGuard<'_, Vec<CallNumber>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a message from a thread that the VM does not manage; no scheduler may come here.
pub(crate) fn send<'a>(
    to: LocalPid,
    message: impl FnOnce(Env<'a>) -> Term<'a>,
) -> Result<(), Gone> {
    thread_local! {
        static ENVIRONMENT: RefCell<OwnedEnv> = RefCell::new(OwnedEnv::new());
    }
    ENVIRONMENT
        .with_borrow_mut(|environment| environment.send_and_clear(&to, message))
        .map_err(|_| Gone)
}

fn word(reason: CancelReason) -> Atom {
    match reason {
        CancelReason::Cancelled => atoms::cancelled(),
        CancelReason::Deadline => atoms::deadline(),
        CancelReason::Gone => atoms::gone(),
        CancelReason::Drain => atoms::drain(),
    }
}
