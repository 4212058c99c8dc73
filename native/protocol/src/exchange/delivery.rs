//! Before something goes out on a stream that is open: whether its client may still have it. An access token is not looked
//! at again, since a stream holds what it said; but one that has ended, or that the host or its issuer says is good no more,
//! ends the stream.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use mcp_auth::Inquiry;
use mcp_json::Document;

use super::{Carrier, Exchange, Stage, era::client_of, internal, listen::Listener, named::Named};
use crate::{
    catalog::Catalog,
    change::Change,
    context::RequestContext,
    head::RequestHead,
    meta::RequestMeta,
    method::Method,
    offer::Permission,
    question::{Ask, Authorized, Input, PermitAsk, Question},
    request_id::RequestId,
    session::{Session, SessionAnswer, SessionAsk},
    step::{Delivery, Step},
    time::Now,
    word,
};

impl Exchange {
    /// In how many milliseconds the client's access token ends, and the stream with it.
    pub fn ends_in_ms(&self, now: Now) -> Option<u64> {
        let granted = self.granted.as_ref()?;
        Some(granted.ends_ms.saturating_sub(now.wall_ms))
    }

    /// Before the client is asked something: what the host is to be asked of it again, answered by [`Exchange::stands`].
    pub fn ask_again(&self) -> Option<Question> {
        let ask = self.settle_ask()?;
        let timeout_ms = self.shared.config.hook_timeout_ms;
        Some(Question { ask, timeout_ms })
    }

    /// Whether the client may still be served, after [`Exchange::ask_again`]; `None` where nobody can say now.
    pub fn stands(&self, answer: &Input) -> Option<bool> {
        match answer {
            Input::Authorized(Authorized::Settled) => Some(true),
            Input::Authorized(Authorized::Unsettled(reason)) if reason.status() == 503 => None,
            Input::Authorized(Authorized::Accept(identity)) => {
                let principal = identity.as_ref().map(|identity| &identity.principal);
                Some(principal == self.principal())
            }
            Input::Unanswered(_) => None,
            _ => Some(false),
        }
    }

    /// Before something is delivered: asks again whether the client may still have it. [`Step::Deliver`] says so.
    pub fn recheck(&mut self, now: Now) -> Step {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let Stage::Listening(listener) = stage else {
            return self.refuse(internal(word::DRIVER, "Nothing is listened to").with_status(500));
        };
        if self.ends_in_ms(now) == Some(0) {
            return self.end_listening(&listener);
        }
        match self.settle_ask() {
            Some(ask) => self.ask(Stage::Reauthorizing(listener), ask),
            None => self.recheck_session(listener),
        }
    }

    /// What the host says again of a client that it has let in before.
    fn settle_ask(&self) -> Option<Ask> {
        let Carrier::Http { endpoint, head, .. } = &self.carrier else {
            return None;
        };
        let (hook, head) = (endpoint.hook, Arc::clone(head));
        if endpoint.authorize {
            return Some(Ask::Authorize { hook, head });
        }
        let granted = self.granted.as_ref()?;
        let accepted = granted.again.clone()?;
        Some(Ask::Settle {
            hook,
            inquiry: Inquiry::again(&view(&head), &granted.resource, &accepted.facts),
            accepted,
            head,
        })
    }

    pub(super) fn reauthorized(&mut self, listener: Listener, decision: &Input) -> Step {
        match self.stands(decision) {
            Some(true) => self.recheck_session(listener),
            Some(false) => self.end_listening(&listener),
            // What waits, waits on.
            None => self.deliver(listener, Delivery::Later),
        }
    }

    /// Whether a change goes out to this client, by the scopes that the stream was opened with and by what the host says
    /// of the resource now; where the catalog depends on the caller, by the caller's. [`Step::Deliver`] says so.
    pub fn permit_change(&mut self, now: Now, change: &Change, catalog: &Catalog) -> Step {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let Stage::Listening(listener) = stage else {
            return self.refuse(internal(word::DRIVER, "Nothing is listened to").with_status(500));
        };
        if !self.may_hear(change.filter_member()) {
            return self.deliver(listener, Delivery::Withheld);
        }
        let Change::Resource(uri) = change else {
            return self.deliver(listener, Delivery::Now);
        };
        match self.hearing_context(now) {
            Some(context) if self.shared.config.caller_catalog => {
                let stage = Stage::LoadingHearersCatalog(listener, Arc::clone(uri));
                self.ask(stage, Ask::Catalog(Box::new(context)))
            }
            _ => self.permit_resource(now, listener, uri, catalog),
        }
    }

    /// Of a definition that is not in the caller's own catalog nothing is heard.
    pub(super) fn hearers_catalog_loaded(
        &mut self,
        now: Now,
        listener: Listener,
        uri: &str,
        catalog: &Catalog,
    ) -> Step {
        match Named::resource(Cow::Borrowed(uri), catalog).access {
            Some(_) => self.permit_resource(now, listener, uri, catalog),
            None => self.deliver(listener, Delivery::Withheld),
        }
    }

    fn permit_resource(
        &mut self,
        now: Now,
        listener: Listener,
        uri: &str,
        catalog: &Catalog,
    ) -> Step {
        let named = Named::resource(Cow::Borrowed(uri), catalog);
        let granted = self.granted_scopes();
        let lacks = |access: &mcp_auth::Definition| {
            granted
                .as_ref()
                .is_some_and(|granted| !access.permits(granted))
        };
        if named.access.is_some_and(lacks) {
            return self.deliver(listener, Delivery::Withheld);
        }
        if !self.shared.config.scopes.authorizes_definitions {
            return self.deliver(listener, Delivery::Now);
        }
        let Some(context) = self.hearing_context(now) else {
            return self.deliver(listener, Delivery::Now);
        };
        let ask = Ask::Permit(Box::new(PermitAsk {
            context,
            offer: named.offer(),
            steps_up: false,
        }));
        self.ask(Stage::PermittingChange(listener), ask)
    }

    /// Who listens, as the host is asked about now.
    fn hearing_context(&self, now: Now) -> Option<RequestContext> {
        Some(RequestContext {
            deadline_ms: now.wall_ms + self.shared.config.hook_timeout_ms,
            ..(**self.hearer.as_ref()?).clone()
        })
    }

    pub(super) fn change_permitted(&mut self, listener: Listener, permission: &Permission) -> Step {
        let delivery = match permission {
            Permission::Permitted => Delivery::Now,
            Permission::Denied | Permission::StepUp(_) => Delivery::Withheld,
        };
        self.deliver(listener, delivery)
    }

    /// A session counts as used while its stream is open, and its stream ends with it (LHT-13).
    fn recheck_session(&mut self, listener: Listener) -> Step {
        match &listener {
            Listener::Session(id) => {
                let ask = Ask::Session(SessionAsk::Fetch(Arc::clone(id)));
                self.ask(Stage::RecheckingSession(listener), ask)
            }
            Listener::Request(_) | Listener::Pipe => self.deliver(listener, Delivery::Now),
        }
    }

    pub(super) fn session_rechecked(&mut self, listener: Listener, answer: SessionAnswer) -> Step {
        match self.own_session(answer) {
            Some(session) => self.deliver(listener, Delivery::To(session.subscriptions)),
            None => self.end_listening(&listener),
        }
    }

    pub(super) fn deliver(&mut self, listener: Listener, delivery: Delivery) -> Step {
        self.stage = Stage::Listening(listener);
        Step::Deliver(delivery)
    }

    /// Who the host is asked about before a change goes out, where it is asked.
    pub(super) fn hearer_of(
        &self,
        context: impl FnOnce() -> RequestContext,
    ) -> Option<Box<RequestContext>> {
        self.asks_of_hearers().then(|| Box::new(context()))
    }

    /// Whether the host says of each change whether it is a client's.
    pub(super) fn asks_of_hearers(&self) -> bool {
        let config = &self.shared.config;
        config.scopes.authorizes_definitions || config.caller_catalog
    }

    /// The stream of a session is nobody's request: it counts as number 0 of its client.
    pub(super) fn standing_context(
        &self,
        id: Option<&Arc<str>>,
        session: &Session,
    ) -> RequestContext {
        let message = Document::parse(Bytes::from_static(b"0"), &mcp_json::Limits::default())
            .expect("a digit is JSON");
        RequestContext {
            id: RequestId::parse(message.root()).expect("an integer is an id"),
            method: Method::Listen,
            revision: session.revision,
            identity: self.identity.clone(),
            session: id.cloned(),
            transport: self.transport(),
            head: self.head_for_host(),
            deadline_ms: 0,
            message: Arc::new(message),
            meta: RequestMeta::default(),
            client: client_of(session),
        }
    }
}

/// The part of a head that credentials are in; what binds them is not looked at again.
fn view(head: &RequestHead) -> mcp_auth::Head<'_> {
    mcp_auth::Head {
        method: head.method(),
        target: head.target(),
        authorization: head.values("authorization").collect(),
        dpop: head.values("dpop").collect(),
        certificate: None,
    }
}
