//! What every transport shares: the [`Host`] seam to the application, the table of [`Calls`] in flight, the
//! register of [`Subscribers`], and [`run`], the loop that feeds an exchange until it has its answer.
//!
//! The core decides, this crate acts: it reads clocks, waits, and hands calls to the application by number.

mod buffers;
mod calls;
mod clock;
mod deadline;
mod detached;
mod doorbell;
mod event;
mod hearing;
mod held;
mod host;
mod listening;
mod outbox;
mod pending;
mod reach;
mod replay;
mod resumable;
mod run;
mod served;
mod stream;
mod subscriber;
mod subscribers;
mod token;
mod visitor;
mod waiting;

pub use buffers::{Buffers, Reservation};
pub use calls::{Acceptance, Accepted, Asking, CallLimits, Calls, Sent};
pub use clock::now;
pub use detached::DetachedStreams;
pub use doorbell::{ServingRuntime, note_work};
pub use event::Event;
pub use hearing::Hearing;
pub use host::{CallNumber, CancelReason, Host, Route};
pub use listening::Listening;
pub use reach::{end_session, relayed};
pub use resumable::ResumableStream;
pub use run::{ask, run};
pub use served::{Served, Stream};
pub use stream::{CallStream, Part};
pub use subscribers::{Subscribers, SubscriptionLimits};
pub use token::Token;
pub use visitor::{Poller, unheard_if};
pub use waiting::cancel;
