//! Wakes that a connection gives itself.
//!
//! When a request's body is taken out of hyper's channel, hyper wakes the connection's task so that it reads on, also when
//! the body has been read to its end. The task, which is just running, would run once more for nothing.

use std::{
    cell::Cell,
    ptr,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

thread_local! {
    /// The connection that is polled on this thread now.
    static POLLED: Cell<*const Echo> = const { Cell::new(ptr::null()) };
    /// Whether it was woken on this thread meanwhile.
    static WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// Polls one connection, and hears what wakes it meanwhile.
#[derive(Default)]
pub(crate) struct Poller(Option<Arc<Echo>>);

/// The connection's waker: it wakes the task, unless the task is running.
struct Echo {
    task: Waker,
}

impl Poller {
    /// Polls the connection with a waker of its own. Woken meanwhile, it is polled again by its runtime.
    pub(crate) fn poll<T>(
        &mut self,
        context: &Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let same = |echo: &Arc<Echo>| echo.task.will_wake(context.waker());
        let echo = self.0.take().filter(same).unwrap_or_else(|| {
            let task = context.waker().clone();
            Arc::new(Echo { task })
        });
        let waker = Waker::from(Arc::clone(self.0.insert(echo)));
        let _polling = Polling::begin(self.0.as_ref());
        let polled = poll(&mut Context::from_waker(&waker));
        if polled.is_pending() && WOKEN.get() {
            context.waker().wake_by_ref();
        }
        polled
    }
}

/// Runs `act`, which says whether what it woke on the connection of this thread is to go unheard.
pub(crate) fn unheard_if<T>(act: impl FnOnce() -> (T, bool)) -> T {
    let woken = WOKEN.get();
    let (value, unheard) = act();
    if unheard {
        WOKEN.set(woken);
    }
    value
}

impl Wake for Echo {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if ptr::eq(POLLED.get(), Arc::as_ptr(self)) {
            WOKEN.set(true);
        } else {
            self.task.wake_by_ref();
        }
    }
}

/// While a connection is polled, also when that panics.
struct Polling;

impl Polling {
    fn begin(echo: Option<&Arc<Echo>>) -> Self {
        POLLED.set(echo.map_or(ptr::null(), Arc::as_ptr));
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

    /// Polls a connection that does this, and says how often its task was woken while it was, and by its end.
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
