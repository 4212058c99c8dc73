//! Waking the tasks of a serving thread from other threads, once for all that happen in one turn of it.
//!
//! A task that is woken from outside its runtime costs a write to the runtime's poller, which is a system call. Answers
//! come from the VM's schedulers several at a time, so they ring here: the first wakes the thread, and the thread wakes
//! everybody who was rung for.

use std::{
    cell::OnceCell,
    mem, ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{runtime::Runtime, sync::Notify};

use crate::visitor::Visitor;

/// The bell of one serving thread.
#[derive(Default)]
pub struct Doorbell {
    /// Who was rung for and has not been woken yet.
    awaited: Mutex<Vec<Arc<Visitor>>>,
    rung: Notify,
}

thread_local! {
    static HERE: OnceCell<Arc<Doorbell>> = const { OnceCell::new() };
}

/// Whether this thread serves by a bell.
pub(crate) fn serves_here() -> bool {
    HERE.try_with(|here| here.get().is_some()).unwrap_or(false)
}

impl Doorbell {
    /// Serves the tasks of a current-thread runtime from here, for good.
    pub fn serve(runtime: &Runtime) {
        let bell = HERE.with(|here| Arc::clone(here.get_or_init(Arc::default)));
        runtime.block_on(bell.answer());
    }

    async fn answer(&self) {
        let mut awake = Vec::new();
        loop {
            self.rung.notified().await;
            mem::swap(&mut awake, &mut *self.awaited());
            for visitor in awake.drain(..) {
                visitor.enter();
            }
        }
    }

    /// The bell of this thread, if it serves by one.
    pub(crate) fn here() -> Option<Arc<Self>> {
        HERE.try_with(|here| here.get().cloned()).ok().flatten()
    }

    /// Whether this is the bell of this thread.
    pub(crate) fn is_here(&self) -> bool {
        let is_this = |bell: &Arc<Self>| ptr::eq(Arc::as_ptr(bell), self);
        HERE.try_with(|here| here.get().is_some_and(is_this))
            .unwrap_or(false)
    }

    /// Has a visitor of this bell's thread enter.
    pub(crate) fn ring(&self, visitor: Arc<Visitor>) {
        let mut awaited = self.awaited();
        awaited.push(visitor);
        let first = awaited.len() == 1;
        drop(awaited);
        if first {
            self.rung.notify_one();
        }
    }

    fn awaited(&self) -> MutexGuard<'_, Vec<Arc<Visitor>>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Future, poll_fn},
        pin::pin,
        thread,
        time::Duration,
    };

    use tokio::{
        runtime::{Builder, Handle},
        sync::oneshot,
    };

    use super::*;
    use crate::visitor::{Poller, received};

    /// The runtime of a thread that serves by a bell.
    fn served() -> Handle {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let handle = runtime.handle().clone();
        thread::spawn(move || Doorbell::serve(&runtime));
        handle
    }

    #[test]
    fn wakes_everybody_who_is_rung_for() {
        let handle = served();
        let (senders, waiting): (Vec<_>, Vec<_>) = (0..1_000)
            .map(|number| {
                let (sender, mut receiver) = oneshot::channel();
                let task = handle.spawn(async move {
                    assert!(serves_here());
                    let mut waiting = pin!(received(&mut receiver));
                    let mut poller = Poller::default();
                    poll_fn(|context| match number % 2 {
                        0 => waiting.as_mut().poll(context),
                        _ => poller.poll(context, |context| waiting.as_mut().poll(context)),
                    })
                    .await
                });
                (sender, task)
            })
            .unzip();
        for (number, sender) in senders.into_iter().enumerate() {
            match number % 3 {
                0 => drop(sender),
                _ => sender.send(number).unwrap(),
            }
        }
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        for (number, task) in waiting.into_iter().enumerate() {
            let received = runtime.block_on(async {
                let limit = Duration::from_secs(10);
                tokio::time::timeout(limit, task).await.unwrap().unwrap()
            });
            assert_eq!(received, (number % 3 != 0).then_some(number));
        }
    }

    #[test]
    fn waits_without_a_bell_too() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let (sender, mut receiver) = oneshot::channel();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            sender.send(7).unwrap();
        });
        assert_eq!(runtime.block_on(received(&mut receiver)), Some(7));
        assert!(!serves_here());
    }
}
