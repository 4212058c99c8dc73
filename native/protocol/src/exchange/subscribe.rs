//! `resources/subscribe` and `resources/unsubscribe` (MCP 2025-11-25 server/resources): for the rest of the session.

use std::sync::Arc;

use super::{
    Carrier, Client, Exchange, Reply, Request, Stage, legacy::unknown_session, listen::checked_uri,
    no_sessions,
};
use crate::{
    change::{MAX_URIS, MAX_URIS_BYTES},
    error::{Code, Error},
    method::Method,
    methods::params::invalid,
    question::Ask,
    session::{Session, SessionAnswer, SessionAsk},
    step::Step,
    word,
};

impl Exchange {
    pub(super) fn subscribe(&mut self, request: &Request) -> Result<Step, Error> {
        let uri = checked_uri(&request.named_params().string("uri")?, "params.uri")?;
        let (reply, adds) = (
            request.reply(),
            request.method == Method::ResourcesSubscribe,
        );
        if let Some(id) = &request.session {
            let id = Arc::clone(id);
            let ask = match adds {
                true => SessionAsk::Subscribe(id, uri),
                false => SessionAsk::Unsubscribe(id, uri),
            };
            return Ok(self.ask(Stage::Subscribing(reply), Ask::Session(ask)));
        }
        let (Carrier::Pipe { session, .. }, Client::Session { .. }) =
            (&self.carrier, &request.client)
        else {
            return Err(Error::new(
                Code::InvalidRequest,
                word::SESSION,
                "A subscription needs a session: send initialize first",
            ));
        };
        if let Some(session) = session {
            self.opened = Some(subscribed(session, uri, adds)?);
        }
        Ok(self.result(&reply, None, |_| ()))
    }

    pub(super) fn subscribed(&mut self, reply: &Reply, answer: &SessionAnswer) -> Step {
        match answer {
            SessionAnswer::Updated => self.result(reply, None, |_| ()),
            SessionAnswer::Unknown => self.refuse(unknown_session()),
            SessionAnswer::Full => self.refuse(too_many()),
            _ => self.refuse(no_sessions()),
        }
    }
}

fn subscribed(session: &Session, uri: Arc<str>, adds: bool) -> Result<Session, Error> {
    let mut session = session.clone();
    let uris = Arc::make_mut(&mut session.subscriptions);
    match adds {
        true => uris.insert(uri),
        false => uris.remove(&uri),
    };
    let bytes: usize = uris.iter().map(|uri| uri.len()).sum();
    match uris.len() > MAX_URIS || bytes > MAX_URIS_BYTES {
        true => Err(too_many()),
        false => Ok(session),
    }
}

fn too_many() -> Error {
    invalid(format!(
        "The session may be subscribed to {MAX_URIS} resources, whose URIs take {MAX_URIS_BYTES} bytes together: \
         unsubscribe from one first"
    ))
}
