//! Waking the tasks of a serving thread from other threads, once for all that happen in one turn of it.
//!
//! A task that is woken from outside its runtime costs a write to the runtime's poller, which is a system call. Answers
//! come from the VM's schedulers several at a time, so they ring here. Ringing wakes the thread only when it sleeps; awake,
//! it looks by itself who has rung, before it lies down and every few pieces of work.

use std::{
    cell::{Cell, OnceCell},
    io, mem, ptr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::Notify,
};

use crate::visitor::Visitor;

/// A current-thread runtime whose thread is woken by a bell.
pub struct ServingRuntime(Runtime);

/// The bell of one serving thread.
#[derive(Default)]
pub(crate) struct Doorbell {
    /// Who was rung for and has not been woken yet.
    awaited: Mutex<Vec<Arc<Visitor>>>,
    /// Whether the thread sleeps, or looks for the last time before it does.
    asleep: AtomicBool,
    rung: Notify,
}

thread_local! {
    static HERE: OnceCell<Arc<Doorbell>> = const { OnceCell::new() };
    /// Pieces of work since the thread last looked who has rung.
    static DONE: Cell<u32> = const { Cell::new(0) };
    /// Room for those who are let in.
    static ROOM: Cell<Vec<Arc<Visitor>>> = const { Cell::new(Vec::new()) };
}

/// A thread that always has something to do looks after so many pieces of work.
const WORK_BETWEEN_LOOKS: u32 = 32;

/// Whether this thread serves by a bell.
pub(crate) fn serves_here() -> bool {
    HERE.try_with(|here| here.get().is_some()).unwrap_or(false)
}

/// Notes a piece of work of this thread. Whatever peers can keep a thread busy with for long notes what it does, so that
/// answers come through all the same.
pub fn note_work() {
    let done = DONE.get() + 1;
    DONE.set(done % WORK_BETWEEN_LOOKS);
    if done == WORK_BETWEEN_LOOKS {
        at_home(Doorbell::let_in);
    }
}

/// Does something with the bell of this thread, if it serves by one.
fn at_home(act: impl FnOnce(&Doorbell)) {
    // A thread that ends has nobody to let in.
    let _ = HERE.try_with(|here| here.get().map(|bell| act(bell)));
}

impl ServingRuntime {
    /// Builds the runtime, which must be one for the current thread.
    ///
    /// # Errors
    /// When the system has no poller for it.
    pub fn new(builder: &mut Builder) -> io::Result<Self> {
        let builder = builder
            .on_thread_park(|| at_home(Doorbell::lie_down))
            .on_thread_unpark(|| at_home(Doorbell::get_up));
        builder.build().map(Self)
    }

    /// By which others spawn tasks.
    pub fn handle(&self) -> &Handle {
        self.0.handle()
    }

    /// Serves its tasks from this thread, for good.
    pub fn serve(self) {
        let bell = HERE.with(|here| Arc::clone(here.get_or_init(Arc::default)));
        self.0.block_on(bell.attend());
    }
}

impl Doorbell {
    async fn attend(&self) {
        loop {
            self.rung.notified().await;
            self.let_in();
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
        self.awaited().push(visitor);
        // The look first: as a rule the thread is awake, or somebody else has woken it.
        if self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::SeqCst) {
            self.rung.notify_one();
        }
    }

    /// Before the thread sleeps, unless this wakes one of its tasks. That somebody was let in does not say so: a task that
    /// has ended meanwhile is not woken.
    fn lie_down(&self) {
        // In this order: whoever rings after the look finds that the thread sleeps.
        self.asleep.store(true, Ordering::SeqCst);
        self.let_in();
    }

    fn get_up(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }

    /// Wakes those who were rung for.
    fn let_in(&self) {
        let mut visitors = ROOM.take();
        mem::swap(&mut visitors, &mut *self.awaited());
        for visitor in visitors.drain(..) {
            visitor.enter();
        }
        ROOM.set(visitors);
    }

    fn awaited(&self) -> MutexGuard<'_, Vec<Arc<Visitor>>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Future, poll_fn},
        hint,
        pin::pin,
        sync::mpsc,
        task::{Context, Poll},
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
        let mut builder = Builder::new_current_thread();
        let runtime = ServingRuntime::new(builder.enable_time()).unwrap();
        let handle = runtime.handle().clone();
        thread::spawn(move || runtime.serve());
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

    /// Answers come while the thread works, while it lies down, and while it sleeps.
    #[test]
    fn hears_everybody_whenever_they_ring() {
        let handle = served();
        let ringing: Vec<_> = (0..4_u64)
            .map(|ringer| {
                let handle = handle.clone();
                thread::spawn(move || {
                    for number in 0..5_000_u64 {
                        let (sender, mut receiver) = oneshot::channel();
                        let (told, heard) = mpsc::channel();
                        handle.spawn(async move {
                            let mut waiting = pin!(received(&mut receiver));
                            let mut poller = Poller::default();
                            poll_fn(|context| {
                                poller.poll(context, |context| waiting.as_mut().poll(context))
                            })
                            .await;
                            told.send(()).unwrap();
                        });
                        for _ in 0..(ringer * 7 + number * 13) % 400 {
                            hint::spin_loop();
                        }
                        sender.send(number).unwrap();
                        heard.recv_timeout(Duration::from_secs(10)).unwrap();
                    }
                })
            })
            .collect();
        for ringer in ringing {
            ringer.join().unwrap();
        }
    }

    /// A thread that never lies down looks all the same.
    #[test]
    fn hears_them_while_it_never_rests() {
        let handle = served();
        handle.spawn(async {
            let mut poller = Poller::default();
            let poll = |context: &mut Context<'_>| {
                context.waker().wake_by_ref();
                Poll::<()>::Pending
            };
            poll_fn(|context| poller.poll(context, poll)).await;
        });
        let (sender, mut receiver) = oneshot::channel();
        let (told, heard) = mpsc::channel();
        handle.spawn(async move {
            told.send(None).unwrap();
            told.send(received(&mut receiver).await).unwrap();
        });
        let limit = Duration::from_secs(10);
        assert_eq!(heard.recv_timeout(limit), Ok(None));
        sender.send(7).unwrap();
        assert_eq!(heard.recv_timeout(limit), Ok(Some(7)));
    }

    /// A task that was rung for, and ends before the thread has looked, is not woken: the thread sleeps.
    #[test]
    fn hears_others_after_one_who_has_ended() {
        let handle = served();
        let (told, heard) = mpsc::channel();
        let (other, mut others) = oneshot::channel();
        handle.spawn(async move { told.send(received(&mut others).await).unwrap() });
        let (sender, mut receiver) = oneshot::channel::<u32>();
        let ends = Arc::new(AtomicBool::new(false));
        let task = Arc::new(Mutex::new(None));
        let (ends_now, itself) = (Arc::clone(&ends), Arc::clone(&task));
        handle.spawn(async move {
            let mut waiting = pin!(received(&mut receiver));
            poll_fn(|context| {
                *itself.lock().unwrap() = Some(context.waker().clone());
                match ends_now.load(Ordering::SeqCst) {
                    true => Poll::Ready(()),
                    false => waiting.as_mut().poll(context).map(drop),
                }
            })
            .await;
        });
        let (busy, is_busy) = mpsc::channel();
        let (rung, is_rung) = mpsc::channel();
        handle.spawn(async move {
            busy.send(()).unwrap();
            is_rung.recv().unwrap();
            ends.store(true, Ordering::SeqCst);
            task.lock().unwrap().take().unwrap().wake();
        });
        is_busy.recv().unwrap();
        sender.send(1).unwrap();
        rung.send(()).unwrap();
        thread::sleep(Duration::from_millis(50));
        other.send(2).unwrap();
        assert_eq!(heard.recv_timeout(Duration::from_secs(10)), Ok(Some(2)));
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
