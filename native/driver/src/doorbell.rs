//! Waking the tasks of a serving thread from other threads, once for all that happen in one turn of it.
//!
//! A task that is woken from outside its runtime costs a write to the runtime's poller, which is a system call. Answers
//! come from the VM's schedulers several at a time, so they ring here: the first wakes the thread, and the thread wakes
//! everybody who was rung for.

use std::{
    cell::OnceCell,
    future::poll_fn,
    mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use tokio::{
    runtime::Runtime,
    sync::{
        Notify,
        oneshot::{self, error::TryRecvError},
    },
};

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
pub(crate) fn is_here() -> bool {
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
                visitor.waker.wake_by_ref();
            }
        }
    }

    fn ring(&self, visitor: Arc<Visitor>) {
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

/// Somebody to wake by way of a bell. The task itself is woken on its own thread alone.
struct Visitor {
    bell: Arc<Doorbell>,
    waker: Waker,
}

impl Visitor {
    /// The visitor of this thread's bell, if it has one, for the task that is polled now: the last one where it still is.
    fn of(context: &Context<'_>, last: Option<Arc<Self>>) -> Option<Arc<Self>> {
        let same = |last: &Arc<Self>| last.waker.will_wake(context.waker());
        last.filter(same).or_else(|| {
            let bell = HERE.with(|here| here.get().cloned())?;
            let waker = context.waker().clone();
            Some(Arc::new(Self { bell, waker }))
        })
    }
}

impl Wake for Visitor {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.bell.ring(Arc::clone(self));
    }
}

/// What a receiver gets, `None` when nothing comes any more; woken by way of the bell of this thread where there is one.
/// Cancel safe.
pub(crate) async fn received<T>(receiver: &mut oneshot::Receiver<T>) -> Option<T> {
    let mut visitor = None;
    poll_fn(|context| match receiver.try_recv() {
        Ok(value) => Poll::Ready(Some(value)),
        Err(TryRecvError::Closed) => Poll::Ready(None),
        Err(TryRecvError::Empty) => {
            visitor = Visitor::of(context, visitor.take());
            let polled = match &visitor {
                Some(visitor) => poll(receiver, &Waker::from(Arc::clone(visitor))),
                None => poll(receiver, context.waker()),
            };
            polled.map(Result::ok)
        }
    })
    .await
}

fn poll<T>(
    receiver: &mut oneshot::Receiver<T>,
    waker: &Waker,
) -> Poll<Result<T, oneshot::error::RecvError>> {
    Pin::new(receiver).poll(&mut Context::from_waker(waker))
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use tokio::runtime::{Builder, Handle};

    use super::*;

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
            .map(|_| {
                let (sender, mut receiver) = oneshot::channel();
                let task = handle.spawn(async move {
                    assert!(is_here());
                    received(&mut receiver).await
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
        assert!(!is_here());
    }
}
