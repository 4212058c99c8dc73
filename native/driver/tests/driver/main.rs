//! The table of calls and the loop around an exchange, with a host that tests play by hand.

mod answers;
mod asking;
mod cancellation;
mod disconnects;
mod harness;
mod limits;
mod listening;
mod races;
mod resuming;
mod standing;
mod streams;
mod stress;
mod time;
