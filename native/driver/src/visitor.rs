//! Tasks of a serving thread, as those see them who wake them.
//!
//! From another thread a task is woken by way of the thread's bell. While it runs, what wakes it on its own thread is
//! noted, and not all of it is worth another run: when a request's body is taken out of hyper's channel, hyper wakes the
//! connection's task so that it reads on, also when the body has been read to its end.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    pin::Pin,
    ptr,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use tokio::sync::oneshot::{self, error::TryRecvError};

use crate::doorbell::{Doorbell, note_work};

thread_local! {
    /// The visitor that is polled on this thread now.
    static POLLED: Cell<*const Visitor> = const { Cell::new(ptr::null()) };
    /// Whether it was woken on this thread meanwhile.
    static WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// Polls one task as a visitor, for as long as it lives.
#[derive(Default)]
pub struct Poller(Option<Visit>);

/// A visitor, as it is and as a waker.
struct Visit {
    visitor: Arc<Visitor>,
    waker: Waker,
}

/// A task that others wake.
pub(crate) struct Visitor {
    /// Where its thread has one.
    bell: Option<Arc<Doorbell>>,
    task: Waker,
}

impl Poller {
    /// Polls the task with a waker of its own. Woken meanwhile on this thread, it is polled again by its runtime.
    pub fn poll<T>(
        &mut self,
        context: &Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        note_work();
        let visit = Visit::renewed(&mut self.0, context.waker());
        let _polling = Polling::begin(&visit.visitor);
        let polled = poll(&mut Context::from_waker(&visit.waker));
        if polled.is_pending() && WOKEN.get() {
            context.waker().wake_by_ref();
        }
        polled
    }
}

/// Runs `act`, which says whether what it woke on the task of this thread is to go unheard.
pub fn unheard_if<T>(act: impl FnOnce() -> (T, bool)) -> T {
    let woken = WOKEN.get();
    let (value, unheard) = act();
    if unheard {
        WOKEN.set(woken);
    }
    value
}

/// What a receiver gets, `None` when nothing comes any more; woken by way of the bell of this thread where there is one.
/// Cancel safe.
pub(crate) async fn received<T>(receiver: &mut oneshot::Receiver<T>) -> Option<T> {
    // For a task that is polled without a [`Poller`].
    let mut visit = None;
    poll_fn(|context| match receiver.try_recv() {
        Ok(value) => Poll::Ready(Some(value)),
        Err(TryRecvError::Closed) => Poll::Ready(None),
        Err(TryRecvError::Empty) => {
            let waker = match POLLED.get().is_null() {
                true => &Visit::renewed(&mut visit, context.waker()).waker,
                false => context.waker(),
            };
            let polled = Pin::new(&mut *receiver).poll(&mut Context::from_waker(waker));
            polled.map(Result::ok)
        }
    })
    .await
}

impl Visit {
    /// The last visit where the task is still the same, else a new one.
    fn renewed<'a>(last: &'a mut Option<Self>, task: &Waker) -> &'a Self {
        let same = |visit: &Self| visit.visitor.task.will_wake(task);
        let visit = last.take().filter(same);
        last.insert(visit.unwrap_or_else(|| Self::of(task)))
    }

    fn of(task: &Waker) -> Self {
        let visitor = Arc::new(Visitor {
            bell: Doorbell::here(),
            task: task.clone(),
        });
        let waker = Waker::from(Arc::clone(&visitor));
        Self { visitor, waker }
    }
}

impl Visitor {
    /// Has the task run; from its own thread.
    pub(crate) fn enter(&self) {
        self.task.wake_by_ref();
    }
}

impl Wake for Visitor {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        match &self.bell {
            _ if ptr::eq(POLLED.get(), Arc::as_ptr(self)) => WOKEN.set(true),
            Some(bell) if !bell.is_here() => bell.ring(Arc::clone(self)),
            _ => self.enter(),
        }
    }
}

/// While a task is polled, also when that panics.
struct Polling;

impl Polling {
    fn begin(visitor: &Arc<Visitor>) -> Self {
        POLLED.set(Arc::as_ptr(visitor));
        WOKEN.set(false);
        Self
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        POLLED.set(ptr::null());
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use super::*;

    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Task {
        fn wakes(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls a task that does this, and says how often its task was woken while it was, and by its end.
    fn wakes(act: impl FnOnce(&Waker)) -> (usize, usize) {
        let task = Arc::new(Task::default());
        let waker = Waker::from(Arc::clone(&task));
        let mut meanwhile = 0;
        let polled: Poll<()> = Poller::default().poll(&Context::from_waker(&waker), |context| {
            act(context.waker());
            meanwhile = task.wakes();
            Poll::Pending
        });
        assert!(polled.is_pending());
        (meanwhile, task.wakes())
    }

    #[test]
    fn wakes_the_task_once_it_was_polled() {
        assert_eq!(wakes(|_| ()), (0, 0));
        assert_eq!(wakes(Waker::wake_by_ref), (0, 1));
        let twice = |waker: &Waker| {
            waker.wake_by_ref();
            waker.wake_by_ref();
        };
        assert_eq!(wakes(twice), (0, 1));
    }

    #[test]
    fn hears_other_threads_at_once() {
        let elsewhere = |waker: &Waker| {
            let waker = waker.clone();
            unheard_if(|| (thread::spawn(|| waker.wake()).join().unwrap(), true));
        };
        assert_eq!(wakes(elsewhere), (1, 1));
    }

    #[test]
    fn leaves_unheard_what_is_for_nothing() {
        let quiet = |waker: &Waker| unheard_if(|| (waker.wake_by_ref(), true));
        assert_eq!(wakes(quiet), (0, 0));
        let heard = |waker: &Waker| unheard_if(|| (waker.wake_by_ref(), false));
        assert_eq!(wakes(heard), (0, 1));
        let both = |waker: &Waker| {
            waker.wake_by_ref();
            unheard_if(|| (waker.wake_by_ref(), true));
        };
        assert_eq!(wakes(both), (0, 1));
    }

    #[test]
    fn wakes_the_task_between_polls_and_after_a_panic() {
        let task = Arc::new(Task::default());
        let waker = Waker::from(Arc::clone(&task));
        let mut poller = Poller::default();
        let mut kept = None;
        let context = Context::from_waker(&waker);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            poller.poll(&context, |context| -> Poll<()> {
                kept = Some(context.waker().clone());
                panic!("as a handler of hyper's might")
            })
        }));
        assert!(panicked.is_err());
        kept.unwrap().wake();
        assert_eq!(task.wakes(), 1);
    }
}
