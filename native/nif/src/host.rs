//! The instance as transports see it.

use std::sync::Arc;

use mcp_auth::{Binding, Facts};
use mcp_driver::{
    Buffers, CallNumber, Calls, CancelReason, DetachedStreams, Event, Host, Route, Subscribers,
};
use mcp_protocol::{Identity, Shared};
use rustler::{Encoder, LocalPid};
use tokio::runtime::Handle;

use crate::{
    atoms,
    dispatcher::{self, Dispatcher, Gone},
    identity,
    instance::Instance,
};

impl Host for Instance {
    type Worker = LocalPid;

    fn shared(&self) -> Arc<Shared> {
        self.shared.load_full()
    }

    fn calls(&self) -> &Arc<Calls<LocalPid>> {
        &self.calls
    }

    fn subscribers(&self) -> &Arc<Subscribers> {
        &self.subscribers
    }

    fn detached(&self) -> &Arc<DetachedStreams<Self>> {
        &self.detached
    }

    fn buffers(&self) -> &Arc<Buffers> {
        &self.buffers
    }

    fn route(&self) -> Option<Route> {
        self.dispatchers.route()
    }

    fn dispatch(&self, call: CallNumber, route: Route) {
        match self.dispatchers.push(route, call) {
            Ok(Some(dispatcher)) => self.flush_later(dispatcher),
            Ok(None) => {}
            Err(Gone) => self.calls.fail(call),
        }
    }

    fn cancel(&self, call: CallNumber, worker: LocalPid, reason: CancelReason) {
        self.dispatchers.cancel(call, worker, reason);
    }

    fn answered(&self, call: CallNumber, worker: LocalPid) {
        // A process that is gone fails its call by itself.
        let _ = dispatcher::send(worker, |env| {
            (atoms::beam_mcp(), atoms::answered(), call).encode(env)
        });
    }

    fn identify(&self, facts: &Facts, binding: Binding) -> Identity {
        identity::of(facts, binding)
    }

    fn record(&self, event: Event) {
        let is_logged = matches!(event, Event::HostFault { .. } | Event::Unlisted { .. });
        if !self.telemetry && !is_logged {
            return;
        }
        if let Some(drainer) = self.ring.push(event) {
            // Whoever replaces a drainer that is gone asks for events by itself.
            let _ = dispatcher::send(drainer, |env| {
                (atoms::beam_mcp(), atoms::events()).encode(env)
            });
        }
    }
}

impl Instance {
    /// Sends the dispatcher's calls when the tasks that are ready now have run: they may add some.
    fn flush_later(&self, to: Arc<Dispatcher>) {
        let (dispatchers, calls) = (Arc::clone(&self.dispatchers), Arc::clone(&self.calls));
        let flush = move || {
            if dispatchers.flush(&to).is_err() {
                calls.fail_route(to.route());
            }
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move { flush() })),
            Err(_) => flush(),
        }
    }
}
