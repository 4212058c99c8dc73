//! All that the core can only ask about: hooks, session store, caller's catalog, handlers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use mcp_protocol::{
    Ask, Authorized, BodyFault, Call, Catalog, IdKey, Identity, Input, Permission, PermitAsk,
    Principal, RequestContext, RequestHead, Scope, Session, SessionAnswer, SessionAsk, Target,
    TaskAnswer, TaskAsk, TaskRequest,
};

use super::fixture::text;

/// `authorize_body` as a script.
pub type BodyHook = Box<dyn FnMut(&RequestHead, &Bytes) -> Input>;

/// How the world answers; each field is a script that a test may replace.
pub struct World {
    pub authorize: Box<dyn FnMut(&RequestHead) -> Input>,
    pub authorize_body: BodyHook,
    pub handler: Box<dyn FnMut(&Call) -> Input>,
    pub catalog: Box<dyn FnMut(&RequestContext) -> Input>,
    pub permit: Box<dyn FnMut(&PermitAsk) -> Input>,
    /// Whether a caller sees the definition with this name in a list.
    pub sees: Box<dyn Fn(&str) -> bool>,
    pub sessions: BTreeMap<Arc<str>, Session>,
    pub tasks: Box<dyn FnMut(&TaskAsk) -> Input>,
    /// Why the next body does not arrive, if it does not.
    pub body_fault: Option<BodyFault>,
    /// Whether calls that are named run on other nodes.
    pub elsewhere: bool,
}

impl World {
    /// Lets everybody in, serves no catalog of its own, and calls every tool with success.
    pub fn new() -> Self {
        Self {
            authorize: Box::new(|_| Input::Authorized(Authorized::Accept(None))),
            authorize_body: Box::new(|_, _| Input::Authorized(Authorized::Accept(None))),
            handler: Box::new(|_| text("done")),
            catalog: Box::new(|_| Input::Catalog(Arc::new(Catalog::default()))),
            permit: Box::new(|_| Input::Permission(Permission::Permitted)),
            sees: Box::new(|_| true),
            sessions: BTreeMap::new(),
            tasks: Box::new(|_| Input::Task(TaskAnswer::Unknown)),
            body_fault: None,
            elsewhere: false,
        }
    }

    /// Reads the body that the listener brings.
    pub fn read(&mut self, body: &Bytes) -> Input {
        match self.body_fault.take() {
            Some(fault) => Input::BodyFault(fault),
            None => Input::Body(body.clone()),
        }
    }

    /// Answers one question.
    pub fn answer(&mut self, ask: &Ask) -> Input {
        match ask {
            Ask::Authorize { head, .. } | Ask::Guard(head) | Ask::Settle { head, .. } => {
                (self.authorize)(head)
            }
            Ask::AuthorizeBody { head, body, .. } => (self.authorize_body)(head, body),
            Ask::Session(ask) => Input::Session(self.session(ask)),
            Ask::Task(ask) => (self.tasks)(ask),
            Ask::Catalog(context) => (self.catalog)(context),
            Ask::Permit(ask) => (self.permit)(ask),
            Ask::Sift { names, .. } => {
                let verdicts = names.iter().map(|name| u8::from((self.sees)(name)));
                Input::Sifted(verdicts.collect())
            }
            Ask::Call(call) => (self.handler)(call),
            Ask::Cancel { .. } | Ask::Hear { .. } if self.elsewhere => Input::Nobody,
            Ask::Keys { .. }
            | Ask::Introspect { .. }
            | Ask::Cancel { .. }
            | Ask::Hear { .. }
            | Ask::Relay(_) => Input::Done,
        }
    }

    fn session(&mut self, ask: &SessionAsk) -> SessionAnswer {
        match ask {
            SessionAsk::Create(session) => {
                let id = Arc::<str>::from(format!("session-{}", self.sessions.len() + 1));
                self.sessions.insert(Arc::clone(&id), session.clone());
                SessionAnswer::Created(id)
            }
            SessionAsk::Fetch(id) => match self.sessions.get(id) {
                Some(session) => SessionAnswer::Found(session.clone()),
                None => SessionAnswer::Unknown,
            },
            SessionAsk::SetLogLevel(id, level) => match self.sessions.get_mut(id) {
                Some(session) => {
                    session.log_level = Some(*level);
                    SessionAnswer::Updated
                }
                None => SessionAnswer::Unknown,
            },
            SessionAsk::Subscribe(id, uri) => self.subscribe(id, |uris| uris.insert(uri.clone())),
            SessionAsk::Unsubscribe(id, uri) => self.subscribe(id, |uris| uris.remove(uri)),
            SessionAsk::Delete(id) => match self.sessions.remove(id) {
                Some(_) => SessionAnswer::Deleted,
                None => SessionAnswer::Unknown,
            },
        }
    }

    fn subscribe(
        &mut self,
        id: &Arc<str>,
        change: impl FnOnce(&mut BTreeSet<Arc<str>>) -> bool,
    ) -> SessionAnswer {
        match self.sessions.get_mut(id) {
            Some(session) => {
                change(Arc::make_mut(&mut session.subscriptions));
                SessionAnswer::Updated
            }
            None => SessionAnswer::Unknown,
        }
    }
}

/// A caller by name.
pub fn identity(name: &str) -> Identity {
    Identity {
        principal: Principal::new(name.as_bytes()),
        scopes: None,
        term: Bytes::copy_from_slice(name.as_bytes()),
    }
}

/// A caller with these scopes, as a hook lets it in.
pub fn admitted(name: &str, scopes: &[&str]) -> Input {
    let scopes = scopes
        .iter()
        .map(|scope| mcp_auth::Scope::parse(scope).unwrap());
    Input::Authorized(Authorized::Accept(Some(Identity {
        scopes: Some(Arc::new(scopes.collect())),
        ..identity(name)
    })))
}

/// A question in words, such as `call echo {"text":"hi"}` or `cancel in pipe 1: 0`.
pub fn describe(ask: &Ask) -> String {
    match ask {
        Ask::Authorize { .. } => "authorize".into(),
        Ask::AuthorizeBody { body, .. } => format!("authorize_body {}", body.len()),
        Ask::Session(SessionAsk::Create(session)) => format!("create session {}", session.revision),
        Ask::Session(SessionAsk::Fetch(id)) => format!("fetch session {id}"),
        Ask::Session(SessionAsk::SetLogLevel(id, level)) => {
            format!("set log level of session {id} to {}", level.as_str())
        }
        Ask::Session(SessionAsk::Subscribe(id, uri)) => format!("subscribe session {id} to {uri}"),
        Ask::Session(SessionAsk::Unsubscribe(id, uri)) => {
            format!("unsubscribe session {id} from {uri}")
        }
        Ask::Session(SessionAsk::Delete(id)) => format!("delete session {id}"),
        Ask::Task(ask) => task_in_words(&ask.request),
        Ask::Permit(ask) => format!("permit {:?} {}", ask.offer.kind, ask.offer.name),
        Ask::Sift { names, .. } => format!("sift {}", names.join(" ")),
        Ask::Catalog(context) => format!("catalog for {}", context.method.as_str()),
        Ask::Call(call) => call_in_words(call),
        Ask::Relay(relay) => format!(
            "relay {} bytes of session {}",
            relay.message.bytes().len(),
            relay.session
        ),
        Ask::Hear { scope, response } => {
            let id = response.id().unwrap_or("no string");
            format!("hear in {}: {id}", scope_name(scope))
        }
        Ask::Guard(_) => "guard".to_owned(),
        Ask::Keys { issuer, .. } => format!("keys of {issuer}"),
        Ask::Introspect { .. } => "introspect".to_owned(),
        Ask::Settle {
            inquiry: Some(inquiry),
            ..
        } => {
            let bytes = inquiry.form().bytes().len();
            format!("settle after {bytes} bytes to the issuer")
        }
        Ask::Settle { .. } => "settle".to_owned(),
        Ask::Cancel { scope, request } => {
            format!(
                "cancel in {}: {}",
                scope_name(scope),
                request.as_ref().map_or("all".into(), key_name)
            )
        }
    }
}

/// Such as `get task 7` or `update task 7: name={"action":"cancel"}`.
fn task_in_words(request: &TaskRequest) -> String {
    match request {
        TaskRequest::Get(id) => format!("get task {id}"),
        TaskRequest::Cancel(id) => format!("cancel task {id}"),
        TaskRequest::Own(ids) => format!("own tasks {}", ids.join(", ")),
        TaskRequest::Update(id, responses) => {
            let responses = responses.iter().map(|(key, json)| format!(" {key}={json}"));
            format!("update task {id}:{}", responses.collect::<String>())
        }
    }
}

/// Such as `call echo {"text":"hi"}` or `read test://users/7 with id=7`.
fn call_in_words(call: &Call) -> String {
    let arguments = arguments(call);
    match &call.target {
        Target::Tool(tool) => format!("call {} {arguments}", tool.name),
        Target::Prompt(prompt) => format!("get {} {arguments}", prompt.name),
        Target::Resource(reading) => {
            let variables = reading.variables.iter();
            let words = variables.map(|(name, value)| format!(" with {name}={value}"));
            format!("read {}{}", reading.uri, words.collect::<String>())
        }
        Target::Completion(completing) => format!(
            "complete {} of {}: {} {arguments}",
            completing.argument,
            completing.reference.as_str(),
            completing.value
        ),
    }
}

fn arguments(call: &Call) -> &str {
    let message = call.context.message();
    call.arguments.map_or("{}", |node| message.node(node).raw())
}

/// A scope in words, such as `pipe 1`.
pub fn scope_name(scope: &Scope) -> String {
    match scope {
        Scope::Pipe(number) => format!("pipe {number}"),
        Scope::Session(id) => format!("session {id}"),
    }
}

fn key_name(key: &IdKey) -> String {
    match key {
        IdKey::Integer(digits) => digits.to_string(),
        IdKey::String(text) => format!("{text:?}"),
    }
}
