//! Calls that ask their client: what a retry brings along, what a round ends with, and responses to legacy requests
//! (MCP 2026-07-28 basic/patterns/mrtr; MCP 2025-11-25 client/elicitation, sampling, roots).

use std::sync::Arc;

use mcp_json::{Document, Node, NodeId};

use super::{Exchange, Reply, Request, Stage};
use crate::{
    call::Target,
    encode::ResultType,
    error::{Code, Error},
    inquiry::{self, ClientResponse, InputKind, Inquiry, Route, missing_capability, names},
    method::Method,
    methods::tools_call,
    notice::Framing,
    principal::Principal,
    question::{Ask, Scope},
    request_id::RequestId,
    request_state::{self, Binding, MAX_STATE_BYTES},
    revision::Era,
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// Step 15: the answers that a modern request brings along.
    pub(super) fn read_inputs(&self, now: Now, request: &mut Request) -> Result<(), Error> {
        if request.revision.era() == Era::Modern {
            let binding = || self.binding(request.method, request.params());
            let (document, params) = (&request.document, request.params());
            request.inputs = inquiry::read(&self.shared, now, document, params, binding)?;
        }
        Ok(())
    }

    /// What a call asks its client with.
    pub(super) fn inquiry(&self, request: &mut Request) -> Inquiry {
        Inquiry::new(
            request.revision,
            self.route(request),
            Arc::clone(&request.document),
            request.meta,
            request.client.clone(),
            request.inputs.take(),
        )
    }

    /// A response of the client's, for the call that asked for it; one that nobody awaits is ignored.
    pub(super) fn heard(
        &mut self,
        message: Arc<Document>,
        id: Option<NodeId>,
        scope: Scope,
    ) -> Step {
        let Some(id) = id.map(|id| RequestId::key(message.node(id))) else {
            return self.accepted();
        };
        let relay = self.relay(&scope, &message);
        let response = ClientResponse::new(id, message);
        self.ask(Stage::Reaching(relay), Ask::Hear { scope, response })
    }

    /// A call that cannot go on without its client.
    pub(super) fn asked(
        &mut self,
        now: Now,
        reply: &Reply,
        target: &Target,
        inquiry: &Inquiry,
    ) -> Step {
        match (inquiry.undeclared(), reply.revision.era()) {
            ([], Era::Modern) => self.input_required(now, reply, inquiry),
            ([], Era::Legacy) => self.refuse_for_client(reply, target, retry_later()),
            (kinds, Era::Modern) => self.refuse(missing_capability(kinds)),
            (kinds, Era::Legacy) => self.refuse_for_client(reply, target, cannot_be_asked(kinds)),
        }
    }

    /// Ends a round: the client answers, or waits, and sends its request again (MRTR-3).
    fn input_required(&mut self, now: Now, reply: &Reply, inquiry: &Inquiry) -> Step {
        let expires_ms = now.wall_ms + self.shared.config.request_state_ttl_ms;
        let text = inquiry.state(expires_ms);
        if text.len() > MAX_STATE_BYTES {
            return self.too_much_to_carry(reply, text.len(), inquiry.bytes());
        }
        let method = self.summary.method.unwrap_or(Method::ToolsCall);
        let binding = self.binding(method, inquiry.params());
        let Some(state) = request_state::seal(&self.shared.keys, binding, &text) else {
            return self.host_failed(reply, Some("the instance has no secret".into()));
        };
        self.result_of(ResultType::InputRequired, reply, None, |result| {
            if inquiry.is_open() {
                result.raw("inputRequests", inquiry.input_requests());
            }
            result.string("requestState", &state);
        })
    }

    /// A state that no client should carry. What was answered is the client's to shorten, the rest the host's.
    fn too_much_to_carry(&mut self, reply: &Reply, bytes: usize, answers: usize) -> Step {
        if bytes - answers > MAX_STATE_BYTES {
            let fault = format!(
                "what the handler asked takes {} bytes, over the {MAX_STATE_BYTES} that a client carries",
                bytes - answers
            );
            return self.host_failed(reply, Some(fault));
        }
        self.refuse(Error::new(
            Code::InvalidParams,
            word::REQUEST_STATE,
            format!(
                "The answers so far take {answers} bytes, and with what was asked a requestState holds {MAX_STATE_BYTES}: give shorter ones"
            ),
        ))
    }

    fn binding(&self, method: Method, params: Option<Node<'_>>) -> Binding {
        let principal: Option<&Principal> =
            self.identity.as_ref().map(|identity| &identity.principal);
        inquiry::binding(principal, method, params)
    }

    /// A legacy client is asked on the call's stream, if it reads one and its responses find their way back.
    fn route(&self, request: &Request) -> Route {
        match request.revision.era() {
            Era::Modern => Route::Result,
            Era::Legacy if self.is_pipe() => Route::Stream(Framing::Line),
            Era::Legacy if self.admits_stream() && request.session.is_some() => {
                Route::Stream(Framing::Event)
            }
            Era::Legacy => Route::None,
        }
    }

    /// A legacy refusal that a model may read.
    fn refuse_for_client(&mut self, reply: &Reply, target: &Target, error: Error) -> Step {
        match target {
            Target::Tool(_) => {
                self.summary.refusal = Some(error.word);
                self.tool_result(reply, &tools_call::error_result(&error.message))
            }
            _ => self.refuse(error),
        }
    }
}

fn cannot_be_asked(kinds: &[InputKind]) -> Error {
    let message = format!(
        "This request needs a client that declares {} and, over HTTP, reads event streams within a session",
        names(kinds)
    );
    Error::new(Code::Internal, word::CAPABILITY, message)
}

fn retry_later() -> Error {
    Error::new(
        Code::Internal,
        word::RETRY_LATER,
        "This takes longer: send the same request again later",
    )
}
