//! Tasks as the core sees them: what became of a call that outlives its request (MCP extension
//! `io.modelcontextprotocol/tasks`).

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::{encode::Members, principal::Principal};

/// Whether calls of a tool may become tasks. The client has to declare the extension for it (TASK-3).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TaskSupport {
    /// They never do.
    #[default]
    Forbidden,
    /// They do where the client takes tasks.
    Optional,
    /// A client that takes none is refused.
    Required,
}

/// One task, as its client reads it.
pub struct Task {
    /// What the client knows it by.
    pub id: Arc<str>,
    /// How far it is.
    pub status: TaskStatus,
    /// For people.
    pub status_message: Option<Box<str>>,
    /// When it began (ISO 8601).
    pub created_at: Box<str>,
    /// When it changed last (ISO 8601).
    pub updated_at: Box<str>,
    /// How long it is kept, counted from its beginning.
    pub ttl_ms: u64,
    /// How often its client should ask for it.
    pub poll_interval_ms: u64,
}

/// How far a task is (TASK-7), with the JSON text that goes with it (TASK-8).
pub enum TaskStatus {
    /// Its work goes on.
    Working,
    /// Its client has to answer these `inputRequests`.
    InputRequired(Bytes),
    /// This is the `result` that the call would have had.
    Completed(Bytes),
    /// This is the `error` that the call would have had.
    Failed(Bytes),
    /// Its client ended it.
    Cancelled,
}

/// What is asked about tasks. Another caller's task is as good as none (TASK-19).
#[derive(Clone)]
pub struct TaskAsk {
    /// Who asks.
    pub caller: Option<Principal>,
    /// For what.
    pub request: TaskRequest,
}

/// What a caller wants of tasks.
#[derive(Clone)]
pub enum TaskRequest {
    /// To see one.
    Get(Arc<str>),
    /// To answer what one asked.
    Update(Arc<str>, TaskResponses),
    /// To end one.
    Cancel(Arc<str>),
    /// To know which of these are its own.
    Own(Vec<Arc<str>>),
}

/// Responses as JSON texts, by the keys of what they answer.
pub type TaskResponses = Vec<(Box<str>, Box<str>)>;

/// What became of it.
pub enum TaskAnswer {
    /// The task.
    Found(Box<Task>),
    /// It was taken.
    Done,
    /// Those of the caller.
    Own(Vec<Arc<str>>),
    /// The caller has no such task, or has it no more.
    Unknown,
}

impl Task {
    /// Writes the members of a task, flat as they stand in every message (TASK-4).
    pub(crate) fn write(&self, members: &mut Members<'_>) {
        members
            .string("taskId", &self.id)
            .string("status", self.status.as_str())
            .string("createdAt", &self.created_at)
            .string("lastUpdatedAt", &self.updated_at)
            .raw("ttlMs", self.ttl_ms.to_string())
            .raw("pollIntervalMs", self.poll_interval_ms.to_string());
        if let Some(message) = &self.status_message {
            members.string("statusMessage", message);
        }
    }

    /// Writes the same with what goes with its status (TASK-8).
    pub(crate) fn write_detailed(&self, members: &mut Members<'_>) {
        self.write(members);
        let (member, json) = match &self.status {
            TaskStatus::InputRequired(json) => ("inputRequests", json),
            TaskStatus::Completed(json) => ("result", json),
            TaskStatus::Failed(json) => ("error", json),
            TaskStatus::Working | TaskStatus::Cancelled => return,
        };
        members.raw(member, json);
    }
}

impl TaskStatus {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired(_) => "input_required",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Shows the status: an id is a secret, and what goes with it the client's.
impl fmt::Debug for Task {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Task({})", self.status.as_str())
    }
}

/// Shows what is asked: ids are secrets.
impl fmt::Debug for TaskAsk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.request {
            TaskRequest::Get(_) => out.write_str("Get(..)"),
            TaskRequest::Update(_, responses) => write!(out, "Update({} answers)", responses.len()),
            TaskRequest::Cancel(_) => out.write_str("Cancel(..)"),
            TaskRequest::Own(ids) => write!(out, "Own({} tasks)", ids.len()),
        }
    }
}

/// Shows what came: ids are secrets.
impl fmt::Debug for TaskAnswer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(task) => write!(out, "Found({task:?})"),
            Self::Done => out.write_str("Done"),
            Self::Own(ids) => write!(out, "Own({} tasks)", ids.len()),
            Self::Unknown => out.write_str("Unknown"),
        }
    }
}
