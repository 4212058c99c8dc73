//! The bar: the shortest way from an HTTP request to a BEAM process and back, without a single check.
//!
//! hyper on a current-thread runtime in one native thread, `serde_json`, one message to the dispatcher
//! with the decoded arguments, one process per call, one reply NIF, hyper.

mod arguments;
mod listener;
mod token;

use rustler::{Atom, Binary, LocalPid, NifResult, ResourceArc, types::atom};

use crate::token::Token;

/// Serves `port` of 127.0.0.1 from a thread of its own; calls go to `dispatcher`.
#[rustler::nif]
fn start(port: u16, dispatcher: LocalPid) -> NifResult<Atom> {
    listener::start(port, dispatcher)
        .map_err(|error| rustler::Error::Term(Box::new(error.to_string())))?;
    Ok(atom::ok())
}

/// Answers the call of `token` with `text` as its one content block.
#[rustler::nif]
fn reply(token: ResourceArc<Token>, text: Binary<'_>) -> Atom {
    token.answer(&text);
    atom::ok()
}

rustler::init!("Elixir.BareBridge");
