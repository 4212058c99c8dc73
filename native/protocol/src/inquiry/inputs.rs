//! What a client brings along to a retry: responses, and the sealed state of the rounds before
//! (MCP 2026-07-28 basic/patterns/mrtr, "Client Retry").

use std::{borrow::Cow, sync::Arc};

use mcp_json::{Document, Kind, Limits, Node, NodeId};
use sha2::{Digest, Sha256};

use crate::{
    config::Shared,
    digest::digest,
    encode::Members,
    error::{Code, Error},
    method::Method,
    principal::Principal,
    request_state::{self, Binding},
    time::Now,
    word,
};

/// Responses, and what was asked and answered in earlier rounds.
#[derive(Clone)]
pub(crate) struct Inputs {
    message: Arc<Document>,
    responses: Option<NodeId>,
    state: Option<Document>,
}

/// An input request as a state keeps it: its key, its digest and its answer.
pub(super) struct Kept<'a> {
    pub(super) key: &'a str,
    pub(super) digest: &'a str,
    /// A JSON text; `None` for one that is asked now.
    pub(super) answer: Option<&'a str>,
}

const RESPONSES: &str = "inputResponses";
const STATE: &str = "requestState";

/// Step 15 of table 0.7: reads the inputs of a modern request; `None` when it brings none.
pub(crate) fn read(
    shared: &Shared,
    now: Now,
    message: &Arc<Document>,
    params: Option<Node<'_>>,
    binding: impl FnOnce() -> Binding,
) -> Result<Option<Box<Inputs>>, Error> {
    let member = |name| params.and_then(|params| params.get(name));
    let responses = match member(RESPONSES) {
        Some(node) if node.kind() != Kind::Object => {
            return Err(refused(
                "The member \"params.inputResponses\" must be an object",
            ));
        }
        node => node.map(Node::id),
    };
    let state = match member(STATE) {
        Some(node) => Some(opened(shared, now, node, binding()).ok_or_else(invalid_state)?),
        None => None,
    };
    if responses.is_none() && state.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(Inputs {
        message: Arc::clone(message),
        responses,
        state,
    })))
}

/// Whom a state is for, and for which request: the method and all parameters but those of a retry (MRTR-10).
pub(crate) fn binding(
    principal: Option<&Principal>,
    method: Method,
    params: Option<Node<'_>>,
) -> Binding {
    let mut hash = Sha256::new();
    hash.update(method.as_str());
    let members = params.into_iter().flat_map(Node::members);
    let mut lasting: Vec<_> = members
        .filter(|(name, _)| ![RESPONSES, STATE, "_meta"].contains(&&**name))
        .collect();
    lasting.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    for (name, value) in lasting {
        hash.update(Sha256::digest(name.as_bytes()));
        hash.update(digest(&value.to_value()));
    }
    match principal {
        Some(principal) => hash.update(Sha256::digest(principal.as_bytes())),
        None => hash.update([0]),
    }
    Binding(hash.finalize().into())
}

/// The text of a state.
pub(super) fn state_text<'a>(
    expires_ms: u64,
    note: Option<&str>,
    kept: impl Iterator<Item = Kept<'a>>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    let mut state = Members::open(&mut out);
    state.raw(EXPIRES, expires_ms.to_string());
    if let Some(note) = note {
        state.string(NOTE, note);
    }
    let mut requests = state.object(REQUESTS);
    for kept in kept {
        let mut entry = Vec::with_capacity(64);
        let mut members = Members::open(&mut entry);
        members.string(DIGEST, kept.digest);
        if let Some(answer) = kept.answer {
            members.raw(ANSWER, answer);
        }
        members.close();
        requests.entry(kept.key, entry);
    }
    requests.close();
    state.close();
    out
}

impl Inputs {
    /// The answer to the input request under `key`. One that was given before to another question is none, and neither
    /// is a response to what an earlier round did not ask.
    pub(super) fn answer(&self, key: &str, digest: &str) -> Option<Node<'_>> {
        let Some(state) = &self.state else {
            return self.response(key);
        };
        let kept = state.root().get(REQUESTS)?.get(key)?;
        let asked = kept.get(DIGEST)?.as_str()?;
        if asked != digest {
            return None;
        }
        kept.get(ANSWER).or_else(|| self.response(key))
    }

    /// What the host noted, and when the state expires.
    pub(super) fn noted(&self) -> Option<(Option<Cow<'_, str>>, u64)> {
        let state = self.state.as_ref()?.root();
        let expires = state.get(EXPIRES)?.raw().parse().ok()?;
        Some((state.get(NOTE).and_then(Node::as_str), expires))
    }

    fn response(&self, key: &str) -> Option<Node<'_>> {
        self.message.node(self.responses?).get(key)
    }
}

fn opened(shared: &Shared, now: Now, node: Node<'_>, binding: Binding) -> Option<Document> {
    let text = request_state::open(&shared.keys, binding, &node.as_str()?)?;
    let state = Document::parse(text.into(), &OWN_TEXT).ok()?;
    let expires: u64 = state.root().get(EXPIRES)?.raw().parse().ok()?;
    (now.wall_ms < expires).then_some(state)
}

/// It never says which check failed (MRTR-12).
pub(crate) fn invalid_state() -> Error {
    refused(
        "The member \"params.requestState\" is not valid for this request: send the request again without it",
    )
}

fn refused(message: &'static str) -> Error {
    Error::new(Code::InvalidParams, word::REQUEST_STATE, message)
}

const EXPIRES: &str = "expires";
const NOTE: &str = "note";
const REQUESTS: &str = "requests";
const DIGEST: &str = "digest";
const ANSWER: &str = "answer";

/// What a state holds was read under the limits of a message before it was sealed.
const OWN_TEXT: Limits = Limits {
    max_depth: 512,
    max_number_digits: usize::MAX,
};
