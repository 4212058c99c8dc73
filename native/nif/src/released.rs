//! Rows of the host's table of functions that nothing leads to any more, on their way to the process that owns it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use rustler::{Atom, Encoder, Env, LocalPid, types::atom};

use crate::{atoms, dispatcher, instance::InstanceHandle, timing, workers};

/// The numbers of such rows: each comes once, and there are never more than the host has rows.
#[derive(Default)]
pub(crate) struct Released {
    numbers: Mutex<Vec<u64>>,
    owner: Mutex<Option<LocalPid>>,
    /// Whether the owner was told and has not come since.
    told: AtomicBool,
}

/// `catalog_owner/2`
#[rustler::nif]
fn catalog_owner(env: Env<'_>, handle: &InstanceHandle, pid: LocalPid) -> Atom {
    let _time = timing::measure("catalog_owner");
    let released = &handle.instance().released;
    *lock(&released.owner) = Some(pid);
    released.told.store(false, Ordering::Release);
    if let Some(owner) = released.to_tell() {
        // Whoever replaces an owner that is gone is told anew.
        let _ = env.send(&owner, (atoms::beam_mcp(), atoms::released()));
    }
    atom::ok()
}

/// `catalog_released/2`
#[rustler::nif]
fn catalog_released(handle: &InstanceHandle, max: usize) -> Vec<u64> {
    let _time = timing::measure("catalog_released");
    handle.instance().released.take(max.min(MAX_NUMBERS))
}

/// Numbers that one call hands back.
const MAX_NUMBERS: usize = 1_000;

impl Released {
    /// Keeps a number and has the owner told. Runs on any thread, and a scheduler may not send: another one does.
    pub(crate) fn push(self: &Arc<Self>, number: u64) {
        lock(&self.numbers).push(number);
        if let Some(owner) = self.to_tell() {
            workers::elsewhere(move || {
                // Whoever replaces an owner that is gone is told anew.
                let _ = dispatcher::send(owner, |env| {
                    (atoms::beam_mcp(), atoms::released()).encode(env)
                });
            });
        }
    }

    /// At most `max` numbers. The owner asks until there are none.
    fn take(&self, max: usize) -> Vec<u64> {
        self.told.store(false, Ordering::Release);
        let mut numbers = lock(&self.numbers);
        let left = numbers.len().saturating_sub(max);
        numbers.split_off(left)
    }

    /// The process to tell of numbers that wait, once.
    fn to_tell(&self) -> Option<LocalPid> {
        if lock(&self.numbers).is_empty() {
            return None;
        }
        let owner = (*lock(&self.owner))?;
        (!self.told.swap(true, Ordering::AcqRel)).then_some(owner)
    }
}

/// A lock whose holder panicked still holds consistent data: every critical section is a single operation.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
