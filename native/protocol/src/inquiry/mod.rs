//! What a running call asks its client for: elicitation, sampling, roots (MCP client/elicitation, sampling, roots).
//!
//! Of a modern client the answers came with the request, or the call ends with an `input_required` result and its
//! handler runs again on the retry. To a legacy client each input request goes out as a request of its own on the call's
//! stream, and the call waits.

mod detached;
mod form;
mod inputs;
mod kind;
mod request;
mod sampling;
mod shape;

use std::{borrow::Cow, fmt, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_json::{Document, Node};
use serde_json::Value;

use self::{
    inputs::{Kept, state_text},
    request::{ELICITATION_ID, InputRequest},
};
use crate::{
    context::{Client, capabilities},
    digest::digest,
    encode::Members,
    excerpt::plain_excerpt,
    meta::RequestMeta,
    method::Method,
    notice::{Frame, FrameKind, Framing},
    request_id::IdKey,
    revision::Revision,
};

pub(crate) use self::{
    inputs::{Inputs, binding, invalid_state, read},
    kind::{missing_capability, names},
};
pub use kind::InputKind;

/// All that one call asks, with the answers so far.
pub struct Inquiry {
    revision: Revision,
    route: Route,
    /// Where the client's capabilities stand.
    message: Arc<Document>,
    meta: RequestMeta,
    client: Client,
    inputs: Option<Box<Inputs>>,
    asked: Vec<Asked>,
    /// How many of `asked` belong to earlier questions than the last.
    settled: usize,
    undeclared: Vec<InputKind>,
    /// What the host notes in the state for the next round.
    note: Option<Box<str>>,
}

/// How input requests reach the client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Route {
    /// In the result of the call.
    Result,
    /// As requests ahead of it.
    Stream(Framing),
    /// Not at all: the client could not be heard, or reads no event stream.
    None,
}

/// One thing that a host wants to know.
pub struct InputQuestion {
    /// The host's own name for it; else it is numbered.
    pub key: Option<String>,
    /// `{method, params}` as JSON.
    pub request: Vec<u8>,
}

/// What comes of a question.
#[derive(Debug)]
pub enum Inquired {
    /// The answers, in the order of the questions.
    Answers(Vec<InputAnswer>),
    /// The call ends here: the answers come with another request.
    Ends,
    /// The call ends here: its client cannot be asked.
    Refused,
    /// These go out, and the answers are waited for.
    Sends(Vec<Frame>),
}

/// What a client said.
#[derive(Clone)]
pub enum InputAnswer {
    /// The response's result, a JSON text that fits what was asked.
    Result(Arc<str>),
    /// It refused, with an error of its own.
    Error {
        /// JSON-RPC code.
        code: i64,
        /// Its words.
        message: Box<str>,
    },
    /// Its response does not fit what was asked.
    Malformed,
    /// It was not asked: it does not declare what that takes.
    Undeclared,
}

/// A JSON-RPC response of a client's.
pub struct ClientResponse {
    id: IdKey,
    message: Arc<Document>,
}

/// A question that a response answers.
pub struct Awaited(Arc<InputRequest>);

/// What a response was to the call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Heard {
    /// Nothing that was asked.
    Nothing,
    /// An answer; others are still awaited.
    Answer,
    /// The last one awaited.
    LastAnswer,
}

struct Asked {
    key: Box<str>,
    request: Arc<InputRequest>,
    /// The id of the request that went out.
    id: Option<Box<str>>,
    digest: String,
    answer: Option<InputAnswer>,
}

impl Inquiry {
    pub(crate) fn new(
        revision: Revision,
        route: Route,
        message: Arc<Document>,
        meta: RequestMeta,
        client: Client,
        inputs: Option<Box<Inputs>>,
    ) -> Self {
        Self {
            revision,
            route,
            message,
            meta,
            client,
            inputs,
            asked: Vec::new(),
            settled: 0,
            undeclared: Vec::new(),
            note: None,
        }
    }

    /// Asks. With `optional`, what the client cannot be asked for is answered as [`InputAnswer::Undeclared`]; without,
    /// it ends the call. `id` names the requests that go out, by their number within the call.
    ///
    /// # Errors
    /// A question that the host has to mend, in one sentence.
    pub fn ask(
        &mut self,
        questions: Vec<InputQuestion>,
        optional: bool,
        id: impl Fn(usize) -> String,
    ) -> Result<Inquired, String> {
        self.settled = self.asked.len();
        let capabilities = self.capabilities();
        for question in questions {
            match self.asked(question, &capabilities, optional) {
                Ok(asked) => self.asked.push(asked),
                Err(fault) => {
                    self.withdraw();
                    return Err(fault);
                }
            }
        }
        if !self.undeclared.is_empty() {
            return Ok(Inquired::Refused);
        }
        if let Route::Stream(framing) = self.route {
            let frames = self.frames(framing, &capabilities, id);
            if !frames.is_empty() {
                return Ok(Inquired::Sends(frames));
            }
        }
        Ok(self.answers().map_or(Inquired::Ends, Inquired::Answers))
    }

    /// Forgets the last questions, which did not go out.
    pub fn withdraw(&mut self) {
        self.asked.truncate(self.settled);
        self.undeclared.clear();
    }

    /// Forgets all questions: whoever asks begins anew.
    pub fn restart(&mut self) {
        self.settled = 0;
        self.withdraw();
    }

    /// Has the state of the next round hold what the host wants to know then.
    pub fn set_note(&mut self, note: &str) {
        self.note = Some(note.into());
    }

    /// What the host noted in the state that came with the request, and until when that counts, in Unix milliseconds.
    pub fn noted(&self) -> Option<(Option<Cow<'_, str>>, u64)> {
        self.inputs.as_ref()?.noted()
    }

    /// What tells a legacy client that requests which it has not answered are over (CAN-7).
    pub fn retractions(&self) -> Vec<Frame> {
        let Route::Stream(framing) = self.route else {
            return Vec::new();
        };
        let open = self.asked.iter().filter(|asked| asked.answer.is_none());
        open.filter_map(|asked| asked.id.as_deref())
            .map(|id| Frame {
                kind: FrameKind::Request,
                bytes: framing.frame(retraction(id)),
            })
            .collect()
    }

    /// The question that a response of the client's answers; `None` when nobody awaits it.
    pub fn awaited(&self, response: &ClientResponse) -> Option<Awaited> {
        let asked = self.asked.iter().find(|asked| asked.awaits(response))?;
        Some(Awaited(Arc::clone(&asked.request)))
    }

    /// Takes the answer that [`Awaited::read`] found in a response.
    pub fn hear(&mut self, response: &ClientResponse, answer: InputAnswer) -> Heard {
        let mut asked = self.asked.iter_mut();
        let Some(asked) = asked.find(|asked| asked.awaits(response)) else {
            return Heard::Nothing;
        };
        asked.answer = Some(answer);
        match self.asked.iter().all(|asked| asked.answer.is_some()) {
            true => Heard::LastAnswer,
            false => Heard::Answer,
        }
    }

    /// The answers to the last questions, once all are there.
    pub fn answers(&self) -> Option<Vec<InputAnswer>> {
        let asked = self.asked[self.settled..].iter();
        asked.map(|asked| asked.answer.clone()).collect()
    }

    /// Whether a request went out that the client has not answered.
    pub fn is_waiting(&self) -> bool {
        let unanswered = |asked: &Asked| asked.id.is_some() && asked.answer.is_none();
        self.asked.iter().any(unanswered)
    }

    /// Whether the client can be asked for this.
    pub fn supports(&self, kind: InputKind) -> bool {
        self.route != Route::None && kind.is_declared(&self.capabilities(), self.revision)
    }

    /// How many bytes of answers it holds.
    pub(crate) fn bytes(&self) -> usize {
        let answers = self.asked.iter().filter_map(|asked| asked.answer.as_ref());
        answers.map(InputAnswer::bytes).sum()
    }

    /// The parameters of the request that the call serves.
    pub(crate) fn params(&self) -> Option<Node<'_>> {
        self.message.root().get("params")
    }

    /// What the client would have to declare.
    pub(crate) fn undeclared(&self) -> &[InputKind] {
        &self.undeclared
    }

    /// Whether there is a question without an answer.
    pub(crate) fn is_open(&self) -> bool {
        self.asked.iter().any(|asked| asked.answer.is_none())
    }

    /// The questions without an answer, as the `inputRequests` of a result.
    pub(crate) fn input_requests(&self) -> Vec<u8> {
        let capabilities = self.capabilities();
        let mut out = Vec::with_capacity(256);
        let mut requests = Members::open(&mut out);
        for asked in self.asked.iter().filter(|asked| asked.answer.is_none()) {
            let mut request = Vec::with_capacity(128);
            let mut members = Members::open(&mut request);
            asked.write(&mut members, self.revision, &capabilities);
            members.close();
            requests.entry(&asked.key, request);
        }
        requests.close();
        out
    }

    /// The text of the state that the client carries to the next round: all that was asked, and the answers.
    pub(crate) fn state(&self, expires_ms: u64) -> Vec<u8> {
        let kept = self.asked.iter().map(|asked| Kept {
            key: &asked.key,
            digest: &asked.digest,
            answer: match &asked.answer {
                Some(InputAnswer::Result(json)) => Some(json),
                _ => None,
            },
        });
        state_text(expires_ms, self.note.as_deref(), kept)
    }

    fn asked(
        &mut self,
        question: InputQuestion,
        capabilities: &Value,
        optional: bool,
    ) -> Result<Asked, String> {
        let key = match question.key {
            Some(key) => key.into_boxed_str(),
            None => format!("input-{}", self.asked.len() + 1).into(),
        };
        self.check_key(&key)?;
        let request = InputRequest::parse(&question.request)
            .map_err(|fault| format!("{} cannot be asked: {fault}", plain_excerpt(&key)))?;
        let digest = URL_SAFE_NO_PAD.encode(&digest(&request.identity())[..DIGEST_BYTES]);
        let can_ask = self.can_ask(&request, capabilities);
        if !can_ask && !optional {
            self.undeclared.push(request.kind());
        }
        let answer = match can_ask {
            true => self.given(&request, &key, &digest),
            false => Some(InputAnswer::Undeclared),
        };
        Ok(Asked {
            key,
            request: Arc::new(request),
            id: None,
            digest,
            answer,
        })
    }

    fn check_key(&self, key: &str) -> Result<(), String> {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(format!(
                "a key has 1 to {MAX_KEY_BYTES} bytes, this has {}",
                key.len()
            ));
        }
        match self.asked.iter().any(|asked| *asked.key == *key) {
            true => Err(format!(
                "the key {} was asked before in this call: give each question its own",
                plain_excerpt(key)
            )),
            false => Ok(()),
        }
    }

    fn can_ask(&self, request: &InputRequest, capabilities: &Value) -> bool {
        self.route != Route::None
            && request.kind().is_declared(capabilities, self.revision)
            && request.params(self.revision, capabilities).is_some()
    }

    /// The answer that came with the request. One that does not fit is asked for again (MRTR-13).
    fn given(&self, request: &InputRequest, key: &str, digest: &str) -> Option<InputAnswer> {
        let answer = self.inputs.as_ref()?.answer(key, digest)?;
        let fits = request.accepts(answer);
        fits.then(|| InputAnswer::Result(answer.raw().into()))
    }

    /// The requests that go out for the last questions.
    fn frames(
        &mut self,
        framing: Framing,
        capabilities: &Value,
        id: impl Fn(usize) -> String,
    ) -> Vec<Frame> {
        let (revision, settled) = (self.revision, self.settled);
        let asked = self.asked.iter_mut().enumerate().skip(settled);
        asked
            .filter(|(_, asked)| asked.answer.is_none())
            .map(|(position, asked)| {
                asked.id = Some(id(position).into());
                Frame {
                    kind: FrameKind::Request,
                    bytes: framing.frame(asked.message(revision, capabilities)),
                }
            })
            .collect()
    }

    fn capabilities(&self) -> Value {
        let declared = capabilities(&self.client, &self.message, self.meta);
        // A number too long for a tree is no capability of ours.
        serde_json::from_str(declared.raw()).unwrap_or_default()
    }
}

impl Asked {
    fn awaits(&self, response: &ClientResponse) -> bool {
        let is_own = self.id.is_some() && self.id.as_deref() == response.id();
        is_own && self.answer.is_none()
    }

    /// A request of the server's to a legacy client.
    fn message(&self, revision: Revision, capabilities: &Value) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        let mut message = Members::open(&mut out);
        message.raw("jsonrpc", "\"2.0\"");
        if let Some(id) = &self.id {
            message.string("id", id);
        }
        self.write(&mut message, revision, capabilities);
        message.close();
        out
    }

    fn write(&self, members: &mut Members<'_>, revision: Revision, capabilities: &Value) {
        members.string("method", self.request.method());
        let params = self.request.params(revision, capabilities);
        let mut params = params.expect("it was seen to be sayable before it was kept");
        if let (InputRequest::Url { id: None, .. }, Some(id), Revision::R20251125) =
            (&*self.request, &self.id, revision)
        {
            params[ELICITATION_ID] = (**id).into();
        }
        members.raw("params", params.to_string());
    }
}

impl Awaited {
    /// Reads the answer in a response, which takes time in proportion to its size.
    pub fn read(&self, response: &ClientResponse) -> InputAnswer {
        InputAnswer::of(&self.0, response.message.root())
    }
}

impl InputAnswer {
    /// How many bytes of the client's it holds.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Result(json) => json.len(),
            Self::Error { message, .. } => message.len(),
            Self::Malformed | Self::Undeclared => 0,
        }
    }

    fn of(request: &InputRequest, response: Node<'_>) -> Self {
        if let Some(result) = response.get("result") {
            return match request.accepts(result) {
                true => Self::Result(result.raw().into()),
                false => Self::Malformed,
            };
        }
        let error = response.get("error");
        let member = |name| error.and_then(|error| error.get(name));
        let code = member("code").and_then(|code| code.raw().parse().ok());
        let message = member("message").and_then(Node::as_str);
        match (code, message) {
            (Some(code), Some(message)) => Self::Error {
                code,
                message: shortened(&message).into(),
            },
            _ => Self::Malformed,
        }
    }
}

impl ClientResponse {
    pub(crate) fn new(id: IdKey, message: Arc<Document>) -> Self {
        Self { id, message }
    }

    /// The id of what it answers; a server's requests have strings for ids.
    pub fn id(&self) -> Option<&str> {
        match &self.id {
            IdKey::String(id) => Some(id),
            IdKey::Integer(_) => None,
        }
    }

    /// The size of the message.
    pub(crate) fn bytes(&self) -> usize {
        self.message.bytes().len()
    }
}

/// `notifications/cancelled` for a request of the server's.
fn retraction(id: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(96);
    let mut message = Members::open(&mut out);
    message.raw("jsonrpc", "\"2.0\"");
    message.string("method", Method::Cancelled.as_str());
    let mut params = message.object("params");
    params.string("requestId", id);
    params.close();
    message.close();
    out
}

fn shortened(message: &str) -> &str {
    let mut end = message.len().min(MAX_ERROR_BYTES);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    &message[..end]
}

/// What is kept of a question's digest: enough that no two questions of one call are taken for each other.
const DIGEST_BYTES: usize = 16;

/// The longest key.
const MAX_KEY_BYTES: usize = 256;

/// What is kept of a client's error message.
const MAX_ERROR_BYTES: usize = 1_024;

/// Shows nothing: what was asked is the host's.
impl fmt::Debug for Awaited {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Awaited")
    }
}

/// Shows how much was asked: what about is the host's and its client's.
impl fmt::Debug for Inquiry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Inquiry")
            .field("revision", &self.revision)
            .field("route", &self.route)
            .field("asked", &self.asked.len())
            .field("undeclared", &self.undeclared)
            .finish_non_exhaustive()
    }
}

/// Shows the kind and size.
impl fmt::Debug for InputAnswer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(json) => write!(out, "Result({} bytes)", json.len()),
            Self::Error { code, .. } => write!(out, "Error({code})"),
            Self::Malformed => out.write_str("Malformed"),
            Self::Undeclared => out.write_str("Undeclared"),
        }
    }
}
