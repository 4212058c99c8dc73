//! The table of calls and the loop around an exchange, with an application that tests play by hand.

mod answers;
mod asking;
mod cancellation;
mod disconnects;
mod harness;
mod limits;
mod stress;
mod time;
