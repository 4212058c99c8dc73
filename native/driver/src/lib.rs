//! What every transport shares: the [`Host`] seam to the application, the table of [`Calls`] in flight, and
//! [`run`], the loop that feeds an exchange until it has its answer.
//!
//! The core decides, this crate acts: it reads clocks, waits, and hands calls to the application by number.

mod buffers;
mod calls;
mod event;
mod held;
mod host;
mod outbox;
mod run;
mod stream;
mod token;
mod waiting;

pub use buffers::{Buffers, Reservation};
pub use calls::{Acceptance, Accepted, Asking, CallLimits, Calls, Sent};
pub use event::Event;
pub use host::{CallNumber, CancelReason, Host, Route, now};
pub use run::{Served, run};
pub use stream::{CallStream, Part};
pub use token::Token;
pub use waiting::cancel;
