//! Reaching calls by what their clients say on other connections: cancellations, responses, the end of a session.

use std::sync::Arc;

use mcp_protocol::{ClientResponse, IdKey, Input, Relayed, Scope, Unanswered};

use crate::{
    calls::Answered,
    host::{CancelReason, Host},
    waiting::cancel,
};

/// Does what a message wants that a client of the session sent to another node.
pub fn relayed<H: Host>(host: &Arc<H>, session: &Scope, message: &Relayed) {
    // The node that has the client answers it, whether anybody was reached or not.
    let _ = match message {
        Relayed::Cancel(request) => cancel_calls(host, session, Some(request)),
        Relayed::Response(response) => hear(host, session, response),
    };
}

/// Ends what runs in a session that is over.
pub fn end_session<H: Host>(host: &Arc<H>, session: &Scope) {
    cancel_calls(host, session, None);
    host.subscribers().end(session);
    host.detached().end(session);
}

/// Cancels one call of a scope, or all.
pub(crate) fn cancel_calls<H: Host>(
    host: &Arc<H>,
    scope: &Scope,
    request: Option<&IdKey>,
) -> Input {
    let calls = host.calls().find(scope, request);
    for call in &calls {
        cancel(host, *call, Unanswered::Cancelled, CancelReason::Cancelled);
    }
    match calls.is_empty() {
        true => Input::Nobody,
        false => Input::Done,
    }
}

/// Hands a response to the call that asked for it.
pub(crate) fn hear<H: Host>(host: &Arc<H>, scope: &Scope, response: &ClientResponse) -> Input {
    match host.calls().hear(scope, response, host.buffers()) {
        Answered::Nobody => Input::Nobody,
        Answered::Partly => Input::Done,
        Answered::Wholly(call, worker) => {
            host.answered(call, worker);
            Input::Done
        }
    }
}
