//! `tasks/get`, `tasks/update`, `tasks/cancel`, and calls that become tasks (MCP extension `io.modelcontextprotocol/tasks`).

use std::sync::Arc;

use mcp_json::{Kind, Node};

use super::{Exchange, Reply, Request, Stage, internal, listen::Listener};
use crate::{
    catalog::Tool,
    context::capabilities,
    encode::ResultType,
    error::{Code, Error},
    extension,
    method::Method,
    methods::{params::invalid, tools_call},
    question::Ask,
    revision::Era,
    step::{Delivery, Step},
    task::{Task, TaskAnswer, TaskAsk, TaskRequest, TaskResponses},
    word,
};

impl Exchange {
    /// One of the three methods, of a client that takes tasks (TASK-14).
    pub(super) fn ask_task(&mut self, request: &Request) -> Result<Step, Error> {
        if !request.takes_tasks() {
            return Err(needs_tasks(request.method.as_str()));
        }
        let params = request.named_params();
        let id = Arc::<str>::from(&*params.string("taskId")?);
        let wanted = match request.method {
            Method::TasksUpdate => {
                TaskRequest::Update(id, responses(params.get("inputResponses"))?)
            }
            Method::TasksCancel => TaskRequest::Cancel(id),
            _ => TaskRequest::Get(id),
        };
        let ask = self.task_ask(wanted);
        Ok(self.ask(Stage::AskingTask(request.reply()), ask))
    }

    pub(super) fn task_answered(&mut self, reply: &Reply, answer: TaskAnswer) -> Step {
        match answer {
            TaskAnswer::Found(task) => {
                self.result(reply, None, |result| task.write_detailed(result))
            }
            TaskAnswer::Done => self.result(reply, None, |_| ()),
            TaskAnswer::Unknown => self.refuse(unknown_task()),
            TaskAnswer::Own(_) => self.refuse(no_tasks()),
        }
    }

    /// A call goes on as a task (TASK-4). No answer to what it asked before is of use any more (TASK-6).
    pub(super) fn task_began(&mut self, reply: &Reply, task: &Task) -> Step {
        self.result_of(ResultType::Task, reply, None, |result| task.write(result))
    }

    /// A tool that runs as a task alone, called by a client that takes none (TASK-3).
    pub(super) fn refuse_without_tasks(
        &mut self,
        request: &Request,
        tool: &Tool,
    ) -> Result<Step, Error> {
        let error = needs_tasks(&format!("The tool {}", tool.name));
        match request.revision.era() {
            Era::Modern => Err(error),
            Era::Legacy => {
                self.summary.refusal = Some(error.word);
                let text = format!("{}, in 2026-07-28", error.message);
                Ok(self.tool_result(&request.reply(), &tools_call::error_result(&text)))
            }
        }
    }

    /// After a change of a task: asks what it is now. [`Step::Deliver`] says so.
    pub fn find_task(&mut self, id: &Arc<str>) -> Step {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let Stage::Listening(listener) = stage else {
            return self.refuse(internal(word::DRIVER, "Nothing is listened to").with_status(500));
        };
        let ask = self.task_ask(TaskRequest::Get(Arc::clone(id)));
        self.ask(Stage::FindingTask(listener), ask)
    }

    pub(super) fn task_found(&mut self, listener: Listener, answer: TaskAnswer) -> Step {
        let task = match answer {
            TaskAnswer::Found(task) => Some(task),
            _ => None,
        };
        self.deliver(listener, Delivery::Task(task))
    }

    pub(super) fn task_ask(&self, request: TaskRequest) -> Ask {
        Ask::Task(Box::new(TaskAsk {
            caller: self.principal().cloned(),
            request,
        }))
    }
}

impl Request {
    /// Whether the client declares the extension with this request; no legacy one does (TASK-22).
    pub(super) fn takes_tasks(&self) -> bool {
        if self.revision.era() == Era::Legacy {
            return false;
        }
        let capabilities = capabilities(&self.client, &self.document, self.meta);
        extension::is_declared(extension::TASKS, capabilities)
    }
}

/// Responses by the keys of what was asked; whether they fit is seen where that is known (TASK-10).
fn responses(node: Option<Node<'_>>) -> Result<TaskResponses, Error> {
    match node {
        Some(node) if node.kind() == Kind::Object => Ok(node
            .members()
            .map(|(key, response)| (key.into(), response.raw().into()))
            .collect()),
        _ => Err(invalid(
            "tasks/update needs the object \"params.inputResponses\"",
        )),
    }
}

pub(super) fn needs_tasks(what: &str) -> Error {
    extension::missing(extension::TASKS, what)
}

/// The same for a task that is another's, has expired, or never was (TASK-13, TASK-19).
fn unknown_task() -> Error {
    let message = "No such task: it has expired, or never was yours";
    Error::new(Code::InvalidParams, word::TASK_UNKNOWN, message)
}

pub(super) fn no_tasks() -> Error {
    internal(
        word::TASK_STORE,
        "The server cannot reach its tasks: retry later",
    )
    .with_status(503)
}

pub(super) fn tasks_full() -> Error {
    Error::new(
        Code::Busy,
        word::TASKS_FULL,
        "As many tasks are kept as the server allows: retry later",
    )
}
