//! From the head of an HTTP request, or a line, to a message: steps 1 to 6 of table 0.7.

use std::sync::Arc;

use bytes::Bytes;
use mcp_json::{Document, id_in_prefix};

use super::{Carrier, Exchange, Granted, Stage};
use crate::{
    envelope::Envelope,
    error::{Code, Error},
    http::{self, Admission, Verb},
    question::{Ask, Authorized, BodyFault},
    request_id::RequestId,
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// Steps 1 and 2: framing, path, `Host`, `Origin`, method.
    pub(super) fn arrive(&mut self) -> Step {
        let Carrier::Http { endpoint, head, .. } = &self.carrier else {
            return self.refuse(super::internal(word::DRIVER, "A line has no head"));
        };
        match http::admit(head, endpoint) {
            Admission::Refuse(refusal) => {
                self.summary.unlisted = http::unlisted(refusal.error.word, head).map(Box::new);
                self.refuse_with(refusal.error, refusal.headers)
            }
            Admission::Preflight => {
                let headers = http::preflight_headers(head, endpoint);
                self.preflight(headers)
            }
            Admission::Serve(verb) if endpoint.authorize => {
                let (hook, head) = (endpoint.hook, head.clone());
                let ask = Ask::Authorize { hook, head };
                self.ask(Stage::Authorizing(verb), ask)
            }
            Admission::Serve(verb) if endpoint.guarded => {
                let ask = Ask::Guard(head.clone());
                self.ask(Stage::Authorizing(verb), ask)
            }
            Admission::Serve(verb) => self.admitted(verb),
        }
    }

    /// Step 3 decided.
    pub(super) fn authorized(&mut self, now: Now, verb: Verb, decision: Authorized) -> Step {
        match self.decide(now, decision) {
            None => self.admitted(verb),
            Some(refusal) => refusal,
        }
    }

    /// Step 4, then the body.
    fn admitted(&mut self, verb: Verb) -> Step {
        match verb {
            Verb::Get => self.hear(),
            Verb::Delete => self.delete(),
            Verb::Post => match self.negotiate() {
                Ok(max_bytes) => {
                    self.stage = Stage::ReadingBody;
                    Step::ReadBody { max_bytes }
                }
                Err(error) => self.refuse(error),
            },
        }
    }

    fn negotiate(&mut self) -> Result<usize, Error> {
        let Carrier::Http {
            endpoint,
            head,
            accepts,
        } = &mut self.carrier
        else {
            return Ok(0);
        };
        http::content_type(head)?;
        http::content_encoding(head)?;
        *accepts = http::accepts(head);
        if accepts.json || accepts.event_stream {
            return Ok(endpoint.max_body_bytes);
        }
        let message = "Accept must admit application/json or text/event-stream";
        Err(Error::new(Code::InvalidRequest, word::NOT_ACCEPTABLE, message).with_status(406))
    }

    pub(super) fn refuse_body(&mut self, fault: BodyFault) -> Step {
        let limit = match &self.carrier {
            Carrier::Http { endpoint, .. } => endpoint.max_body_bytes,
            Carrier::Pipe { .. } => 0,
        };
        let refusal = |status, word, message: String| {
            Error::new(Code::InvalidRequest, word, message).with_status(status)
        };
        let error = match fault {
            BodyFault::TooLarge => refusal(
                413,
                word::BODY_TOO_LARGE,
                format!("The body is larger than {limit} bytes: send a smaller one"),
            ),
            BodyFault::Timeout { limit_ms } => refusal(
                408,
                word::BODY_TIMEOUT,
                format!("The body did not arrive within {limit_ms} ms: send it again, and faster"),
            ),
            BodyFault::NoRoom => Error::new(
                Code::Busy,
                word::BUFFERS,
                "The server has no room for this body: retry later",
            ),
            BodyFault::Broken => refusal(
                400,
                word::BODY,
                "The body ended early or its framing is broken: send it again, whole".to_owned(),
            ),
        };
        self.refuse(error)
    }

    pub(super) fn body(&mut self, now: Now, bytes: Bytes) -> Step {
        self.body_read = true;
        match &self.carrier {
            Carrier::Http { endpoint, head, .. } if endpoint.authorize_body => {
                let (hook, head, body) = (endpoint.hook, head.clone(), bytes.clone());
                let ask = Ask::AuthorizeBody { hook, head, body };
                self.ask(Stage::AuthorizingBody(bytes), ask)
            }
            _ => self.decode(now, bytes),
        }
    }

    pub(super) fn body_authorized(&mut self, now: Now, bytes: Bytes, decision: Authorized) -> Step {
        match self.decide(now, decision) {
            None => self.decode(now, bytes),
            Some(refusal) => refusal,
        }
    }

    /// Steps 5 and 6: JSON, then the shape of a JSON-RPC message.
    pub(super) fn decode(&mut self, now: Now, bytes: Bytes) -> Step {
        let document = match Document::parse(bytes, &self.shared.config.json) {
            Ok(document) => document,
            Err(error) => return self.refuse(not_json(&error)),
        };
        match Envelope::parse(document.root()) {
            Ok(envelope) => self.message(now, Arc::new(document), envelope),
            Err((id, error)) => {
                self.id = id;
                self.refuse(error)
            }
        }
    }

    /// A line over the limit, answered under its id when that can be read (STD-13).
    pub(super) fn refuse_long_line(&mut self, prefix: &[u8], limit: usize) -> Step {
        self.id = id_in_prefix(prefix)
            .and_then(|raw| Document::parse(raw.into(), &self.shared.config.json).ok())
            .and_then(|document| RequestId::parse(document.root()).ok());
        let message = format!("The line is longer than {limit} bytes: send a shorter one");
        self.refuse(Error::new(
            Code::InvalidRequest,
            word::LINE_TOO_LONG,
            message,
        ))
    }

    /// Takes the identity of a decision, or the refusal that it asks for.
    fn decide(&mut self, now: Now, decision: Authorized) -> Option<Step> {
        match decision {
            Authorized::Accept(identity) => {
                self.identity = identity.or(self.identity.take());
                self.note_sender(now, None);
                None
            }
            Authorized::Deny => {
                self.note_sender(now, Some(word::FORBIDDEN));
                let error =
                    Error::new(Code::InvalidRequest, word::FORBIDDEN, "Forbidden").with_status(403);
                Some(self.refuse(error))
            }
            Authorized::Challenge(challenge) => {
                self.note_sender(now, Some(word::UNAUTHENTICATED));
                let error = Error::new(
                    Code::InvalidRequest,
                    word::UNAUTHENTICATED,
                    "Authentication is required",
                )
                .with_status(401);
                Some(self.refuse_with(error, vec![("www-authenticate", challenge.into())]))
            }
            Authorized::Grant(grant) => {
                self.identity = Some(grant.identity);
                self.granted = Some(Granted {
                    ends_ms: grant.ends_ms,
                    headers: grant.headers,
                    again: grant.again,
                    resource: grant.resource,
                    scheme: grant.scheme,
                    token: grant.token,
                    sign_in: grant.sign_in,
                });
                None
            }
            Authorized::Refuse(error, headers) => Some(self.refuse_with(error, headers)),
            Authorized::Settled | Authorized::Unsettled(_) => {
                Some(self.refuse(super::internal(word::DRIVER, "Nothing was to be settled")))
            }
        }
    }
}

fn not_json(error: &mcp_json::Error) -> Error {
    let (code, word) = match error.is_syntax() {
        true => (Code::Parse, word::PARSE),
        false => (Code::InvalidRequest, word::SHAPE),
    };
    Error::new(code, word, error.to_string())
}
