//! Messages for calls of this node that reached another one.

use std::sync::Arc;

use bytes::Bytes;
use mcp_protocol::{Relayed, Scope};
use rustler::{Atom, Binary, types::atom};

use crate::{instance::InstanceHandle, workers};

/// `relayed/3`: what cancels or answers a call of the session here.
#[rustler::nif(schedule = "DirtyCpu")]
fn relayed<'a>(handle: &'a InstanceHandle, session: &'a str, message: Binary<'a>) -> Atom {
    let instance = Arc::clone(handle.instance());
    let session = Scope::Session(session.into());
    let message = Bytes::copy_from_slice(&message);
    let json = instance.config.json;
    if let Some(message) = Relayed::parse(message, &json) {
        workers::elsewhere(move || mcp_driver::relayed(&instance, &session, &message));
    }
    atom::ok()
}
