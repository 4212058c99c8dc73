//! How a handler ended: one internal form of a result for each kind, before any revision's encoder (B-3).

use std::fmt;

use bytes::Bytes;
use mcp_json::{Document, Limits};
use mcp_schema::{Faults, Schema};

use crate::{cache::CacheChoice, inquiry::Inquiry, task::Task};

/// How a handler ended.
pub enum CallOutcome {
    /// A tool's result, or a failure that the host put into words for the client.
    Tool(ToolResult),
    /// What a resource holds.
    Contents(Contents),
    /// A prompt's messages.
    Prompt(PromptResult),
    /// Values for an argument.
    Completion(CompletionResult),
    /// It cannot go on without its client, for what it asked or until later.
    Asked(Box<Inquiry>),
    /// A tool goes on as a task, which is kept already (TASK-5).
    Task(Box<Task>),
    /// It would go on as one, and as many are kept as may be.
    TasksFull,
    /// It would go on as one, and nobody can say whether it is kept.
    TasksUnavailable,
    /// The state that the request brought along is used up.
    StateUsed,
    /// There is no such resource.
    NotFound,
    /// A failure of anything, in words that the host wants the client to read.
    SafeError(SafeError),
    /// A host fault: the client gets a fixed text, the host's log has the reason already.
    Failed,
}

/// A tool's result.
#[derive(Default)]
pub struct ToolResult {
    /// `content`: a JSON array of content blocks.
    pub content: Vec<u8>,
    /// `structuredContent`: any JSON value.
    pub structured: Option<Vec<u8>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// `_meta`: a JSON object.
    pub meta: Option<Vec<u8>>,
}

/// What a resource holds: at least one piece.
#[derive(Default)]
pub struct Contents {
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// `_meta`: a JSON object.
    pub meta: Option<Vec<u8>>,
    /// How long the answer may be kept, where the handler knows better than the definition.
    pub cache: CacheChoice,
}

/// One entry of `contents`.
pub struct Piece {
    /// Its URI, where it is not the one that was asked for.
    pub uri: Option<String>,
    /// Its media type, where it is not the definition's.
    pub mime_type: Option<String>,
    /// What is in it.
    pub body: Body,
    /// `_meta`: a JSON object.
    pub meta: Option<Bytes>,
}

/// What is in a piece, as a JSON string with its quotation marks.
pub enum Body {
    /// Text.
    Text(Bytes),
    /// Bytes in Base64 (RFC 4648 §4).
    Blob(Bytes),
}

/// A prompt, filled in.
#[derive(Default)]
pub struct PromptResult {
    /// For people.
    pub description: Option<String>,
    /// A JSON array of messages.
    pub messages: Vec<u8>,
    /// `_meta`: a JSON object.
    pub meta: Option<Vec<u8>>,
}

/// Values for an argument, the most relevant first.
#[derive(Default)]
pub struct CompletionResult {
    /// The values; a client gets the first hundred.
    pub values: Vec<String>,
    /// How many there are, where the host knows of more than it gives.
    pub total: Option<u64>,
    /// Whether there are more than are given.
    pub has_more: Option<bool>,
}

/// A failure in words that are meant for the client.
pub struct SafeError {
    /// One sentence.
    pub message: String,
    /// `error.data`: any JSON value. A tool's error has no place for it.
    pub data: Option<String>,
}

impl CallOutcome {
    /// How many bytes it holds, as far as they count.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Tool(result) => result.bytes(),
            Self::Contents(contents) => contents.bytes(),
            Self::Prompt(prompt) => prompt.messages.len(),
            Self::Completion(completion) => completion.values.iter().map(String::len).sum(),
            Self::SafeError(error) => error.message.len(),
            Self::Asked(inquiry) => inquiry.bytes(),
            Self::Task(_)
            | Self::TasksFull
            | Self::TasksUnavailable
            | Self::StateUsed
            | Self::NotFound
            | Self::Failed => 0,
        }
    }
}

impl Contents {
    fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.body.bytes()).sum()
    }
}

impl ToolResult {
    /// Checks the structured content.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), Faults> {
        let text = self.structured.clone().unwrap_or_default();
        match Document::parse(text.into(), &OWN_TEXT) {
            Ok(document) => schema.check_node(document.root()),
            Err(_) => Err(Faults {
                faults: Vec::new(),
                more: true,
            }),
        }
    }

    fn bytes(&self) -> usize {
        self.content.len() + self.structured.as_ref().map_or(0, Vec::len)
    }
}

/// Results nest as deep as the host's terms may, and their numbers are as long as the host likes.
const OWN_TEXT: Limits = Limits {
    max_depth: 256,
    max_number_digits: usize::MAX,
};

impl Body {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(json) | Self::Blob(json) => json.len(),
        }
    }
}

/// Shows kinds and sizes: a result is the host's and its client's.
impl fmt::Debug for CallOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(result) => result.fmt(out),
            Self::Contents(contents) => write!(out, "Contents({} bytes)", contents.bytes()),
            Self::Prompt(prompt) => write!(out, "Prompt({} bytes)", prompt.messages.len()),
            Self::Completion(completion) => {
                write!(out, "Completion({} values)", completion.values.len())
            }
            Self::Asked(inquiry) => inquiry.fmt(out),
            Self::Task(task) => task.fmt(out),
            Self::TasksFull => out.write_str("TasksFull"),
            Self::TasksUnavailable => out.write_str("TasksUnavailable"),
            Self::StateUsed => out.write_str("StateUsed"),
            Self::NotFound => out.write_str("NotFound"),
            Self::SafeError(error) => write!(out, "SafeError({} bytes)", error.message.len()),
            Self::Failed => out.write_str("Failed"),
        }
    }
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ToolResult({} bytes)", self.bytes())
    }
}
