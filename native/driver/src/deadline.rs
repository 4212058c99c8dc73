//! The deadlines of calls, kept by timers that outlast them.
//!
//! To set a timer for each call, and to take it back when the answer comes, costs more than all else of waiting. So a call
//! on a serving thread borrows a timer that is set already: where that rings too early, it is set to the call's own deadline
//! then, which happens about once in the time that calls may take.

use std::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::doorbell;

thread_local! {
    static SPARE: RefCell<Vec<Pin<Box<Sleep>>>> = const { RefCell::new(Vec::new()) };
}

/// What comes of `future` before `deadline`; `None` when nothing does. Cancel safe where the future is.
pub(crate) async fn before<T>(deadline: Instant, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut timer = None;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => {
            let timer = timer.get_or_insert_with(|| Timer::set_before(deadline));
            timer.poll(context, deadline).map(|()| None)
        }
    })
    .await
}

/// A timer on loan.
struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// One that rings at `deadline` or earlier.
    fn set_before(deadline: Instant) -> Self {
        let mut timer = SPARE
            .with_borrow_mut(Vec::pop)
            .unwrap_or_else(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        Self(Some(timer))
    }

    fn poll(&mut self, context: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let Some(timer) = &mut self.0 else {
            return Poll::Ready(());
        };
        while timer.as_mut().poll(context).is_ready() {
            if timer.deadline() >= deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

/// Only a serving thread keeps timers: it stays with one runtime, and a timer belongs to the runtime that it was made in.
impl Drop for Timer {
    fn drop(&mut self) {
        let has_room = || doorbell::serves_here() && SPARE.with_borrow(Vec::len) < MAX_SPARE;
        // One that is not kept is dropped here, and with it perhaps the last of a task: nothing is borrowed then.
        if let Some(timer) = self.0.take().filter(|_| has_room()) {
            SPARE.with_borrow_mut(|spare| spare.push(timer));
        }
    }
}

/// Timers that one thread keeps. Each holds on to the memory of the task that used it last.
const MAX_SPARE: usize = 64;

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use tokio::{
        runtime::Builder,
        time::{pause, sleep},
    };

    use super::*;
    use crate::doorbell::ServingRuntime;

    /// Whether `future`, which may take `limit` ms, comes, and that this takes `expected` ms: a timer may ring one later.
    async fn takes<T>(expected: u64, limit: u64, future: impl Future<Output = T>) -> bool {
        let begun = Instant::now();
        let came = before(begun + ms(limit), future).await;
        let took = begun.elapsed().as_millis() as u64;
        assert!((expected..expected + 2).contains(&took), "{took} ms");
        came.is_some()
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn spare() -> usize {
        SPARE.with_borrow(Vec::len)
    }

    async fn deadlines_are_kept() {
        assert!(takes(30, 100, sleep(ms(30))).await);
        assert!(!takes(100, 100, pending::<()>()).await);
        // Set for later, set for earlier, and rung already.
        assert!(!takes(40, 40, pending::<()>()).await);
        assert!(takes(20, 500, sleep(ms(20))).await);
        assert!(!takes(300, 300, pending::<()>()).await);
        sleep(ms(1_000)).await;
        assert!(!takes(50, 50, pending::<()>()).await);
        assert!(!takes(0, 0, pending::<()>()).await);
        tokio::join!(
            takes(70, 70, pending::<()>()),
            takes(60, 60, pending::<()>())
        );
    }

    #[test]
    fn keeps_deadlines_with_timers_that_were_set_before() {
        std::thread::spawn(|| {
            let mut builder = Builder::new_current_thread();
            let runtime = ServingRuntime::new(builder.enable_time()).unwrap();
            let (sender, done) = std::sync::mpsc::channel();
            runtime.handle().spawn(async move {
                pause();
                deadlines_are_kept().await;
                sender.send(spare()).unwrap();
            });
            std::thread::spawn(move || runtime.serve());
            assert_eq!(done.recv_timeout(ms(10_000)), Ok(2));
        })
        .join()
        .unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_no_timer_on_another_thread() {
        deadlines_are_kept().await;
        assert_eq!(spare(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_there_needs_no_timer() {
        assert_eq!(before(Instant::now(), async { 7 }).await, Some(7));
    }
}
