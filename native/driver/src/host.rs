//! The seam to the application.

use std::sync::Arc;

use mcp_auth::{Binding, Facts};
use mcp_protocol::{Identity, Shared};

use crate::{
    buffers::Buffers, calls::Calls, detached::DetachedStreams, event::Event,
    subscribers::Subscribers,
};

/// Names one call handed to the application; unique within an instance, never reused.
pub type CallNumber = u64;

/// Names one of those who hand calls on to the application's processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Route(pub u32);

/// Why a call has to stop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CancelReason {
    /// The client asked.
    Cancelled,
    /// Its time is up.
    Deadline,
    /// The client left.
    Gone,
    /// The instance drains and its patience is over.
    Drain,
}

/// The application behind the transports. No method may block: each is called on a thread that serves sockets.
pub trait Host: Send + Sync + 'static {
    /// Names one of the application's processes.
    type Worker: Copy + PartialEq + Send + 'static;

    /// Configuration, catalog and keys in force now.
    fn shared(&self) -> Arc<Shared>;

    /// The calls in flight.
    fn calls(&self) -> &Arc<Calls<Self::Worker>>;

    /// Who hears of changes.
    fn subscribers(&self) -> &Arc<Subscribers>;

    /// The streams of calls whose clients may come back.
    fn detached(&self) -> &Arc<DetachedStreams<Self>>
    where
        Self: Sized;

    /// The bytes of bodies, lines and answers that are held.
    fn buffers(&self) -> &Arc<Buffers>;

    /// Chooses who hands on the next call; `None` when nobody does.
    fn route(&self) -> Option<Route>;

    /// Has a call handed on that waits in [`Host::calls`].
    fn dispatch(&self, call: CallNumber, route: Route);

    /// Has the process stopped that took a call.
    fn cancel(&self, call: CallNumber, worker: Self::Worker, reason: CancelReason);

    /// Tells the process that took a call that the client's answers are there: [`Calls::answers`].
    fn answered(&self, call: CallNumber, worker: Self::Worker);

    /// The identity of a sender as the host's handlers are to see it, when its access token alone says who it is.
    fn identify(&self, facts: &Facts, binding: Binding) -> Identity;

    /// Notes what happened; drops it when there is no room.
    fn record(&self, event: Event);
}
