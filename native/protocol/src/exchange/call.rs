//! Calls of the host, whatever they are for: step 18 of table 0.7, and what the host may answer.

use std::sync::Arc;

use mcp_json::NodeId;

use super::{
    Exchange, Reply, Request, Stage, internal,
    task::{no_tasks, tasks_full},
    unanswered::busy,
};
use crate::{
    call::{Call, Target},
    catalog::{Full, Place, Tool},
    error::{Code, Error},
    inquiry,
    method::Method,
    methods::{resources_read, tools_call},
    outcome::{CallOutcome, SafeError},
    question::{Ask, Unanswered},
    step::Step,
    task::TaskSupport,
    time::Now,
    word,
};

impl Exchange {
    /// Hands a call to the host.
    pub(super) fn dispatch(
        &mut self,
        now: Now,
        mut request: Request,
        target: Target,
        arguments: Option<NodeId>,
    ) -> Result<Step, Error> {
        if self.summary.definition.is_none() && !matches!(target, Target::Completion(_)) {
            self.summary.definition = Some(Arc::clone(target.name()));
        }
        let timeout_ms = target.timeout_ms(&self.shared.config);
        let context = self.context(now, &request, timeout_ms);
        let reply = request.reply();
        self.resumable = self.resumable_by(&request);
        let inquiry = match target {
            Target::Completion(_) => None,
            _ => Some(Box::new(self.inquiry(&mut request))),
        };
        let takes_task = match &target {
            Target::Tool(tool) => {
                tool.task_support != TaskSupport::Forbidden && request.takes_tasks()
            }
            _ => false,
        };
        let call = Box::new(Call {
            takes_task,
            place: enter(&target, now)?,
            target: target.clone(),
            arguments,
            notifier: Some(self.notifier(&request)),
            inquiry,
            context,
            cancel_key: request.cancel_key,
        });
        Ok(self.ask(Stage::Calling(reply, target), Ask::Call(call)))
    }

    pub(super) fn called(
        &mut self,
        now: Now,
        reply: Reply,
        target: &Target,
        outcome: CallOutcome,
    ) -> Step {
        match (target, outcome) {
            (Target::Tool(tool), CallOutcome::Tool(result)) => {
                self.tool_called(reply, tool, result)
            }
            (Target::Tool(_), CallOutcome::SafeError(error)) => {
                self.tool_result(&reply, &tools_call::error_result(&error.message))
            }
            (Target::Resource(reading), CallOutcome::Contents(contents)) => {
                self.contents(&reply, reading, &contents)
            }
            (Target::Resource(reading), CallOutcome::NotFound) => {
                self.refuse(resources_read::not_found(&reading.uri, reply.revision))
            }
            (Target::Prompt(_), CallOutcome::Prompt(prompt)) => self.prompt(&reply, &prompt),
            (Target::Completion(_), CallOutcome::Completion(completion)) => {
                self.completion(&reply, &completion)
            }
            (Target::Tool(_), CallOutcome::Task(task)) => self.task_began(&reply, &task),
            (Target::Tool(_), CallOutcome::TasksFull) => self.refuse(tasks_full()),
            (Target::Tool(_), CallOutcome::TasksUnavailable) => self.refuse(no_tasks()),
            (target, CallOutcome::Asked(inquiry)) => self.asked(now, &reply, target, &inquiry),
            (_, CallOutcome::StateUsed) => self.refuse(inquiry::invalid_state()),
            (_, CallOutcome::SafeError(error)) => self.refuse(safe_error(error)),
            (_, CallOutcome::Failed) => self.host_failed(&reply, None),
            (target, outcome) => {
                let fault = format!("{outcome:?} is no answer for {target:?}");
                self.host_failed(&reply, Some(fault))
            }
        }
    }

    pub(super) fn call_unanswered(
        &mut self,
        now: Now,
        reply: &Reply,
        target: &Target,
        why: Unanswered,
    ) -> Step {
        match why {
            Unanswered::Failed => {
                let fault = "the process that ran the handler ended without an answer: it was killed, or a process linked to it \
                             ended";
                self.host_failed(reply, Some(fault.into()))
            }
            Unanswered::Deadline => {
                let option = match target.own_timeout_ms() {
                    Some(_) => "timeout_ms",
                    None => "call_timeout_ms",
                };
                let limit = target.timeout_ms(&self.shared.config);
                let fault = format!("the handler ran longer than {option} ({limit})");
                self.host_failed(reply, Some(fault))
            }
            Unanswered::Cancelled => self.cancelled(),
            why => {
                if let Unanswered::PrincipalBusy(_) = why {
                    let (method, name) = (self.summary.method, Arc::clone(target.name()));
                    self.note_limited(now, method, Some(name), word::PRINCIPAL_BUSY);
                }
                self.refuse(busy(why))
            }
        }
    }

    /// The fixed text of a host fault: a result of a tool (TOOL-16), an error of anything else. `fault` is for the
    /// host's log.
    pub(super) fn host_failed(&mut self, reply: &Reply, fault: Option<String>) -> Step {
        self.summary.host_fault = fault;
        if self.summary.method == Some(Method::ToolsCall) {
            self.summary.refusal = Some(word::HOST_FAULT);
            return self.tool_result(reply, &tools_call::failed());
        }
        self.refuse(internal(word::HOST_FAULT, "The server failed"))
    }

    /// What is answered in place of a result that is too large to send.
    pub(super) fn oversized(&mut self, reply: &Reply, bytes: usize) -> Step {
        let limit = self.shared.config.max_result_bytes;
        let fault = format!("the result takes {bytes} bytes, over max_result_bytes ({limit})");
        if self.summary.host_fault.is_none() {
            return self.host_failed(reply, Some(fault));
        }
        // Not even the fixed text fits.
        self.refuse(internal(word::HOST_FAULT, "The server failed"))
    }
}

/// The call's place among those of its tool.
fn enter(target: &Target, now: Now) -> Result<Option<Place>, Error> {
    match target {
        Target::Tool(tool) => match &tool.gate {
            Some(gate) => gate
                .enter(&tool.limits, now)
                .map(Some)
                .map_err(|full| tool_busy(tool, full)),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

fn tool_busy(tool: &Tool, full: Full) -> Error {
    let refuse = |message| Error::new(Code::Busy, word::BUSY, message);
    match full {
        Full::Concurrency { allowed } => refuse(format!(
            "The tool {} has as many calls running as its max_concurrency ({allowed}) allows: retry later",
            tool.name
        )),
        Full::Rate {
            rate,
            retry_after_ms,
        } => {
            let seconds = retry_after_ms.div_ceil(1_000);
            refuse(format!(
                "The tool {} is called more often than its rate ({} in {} ms) allows: retry in {seconds} s",
                tool.name, rate.count, rate.per_ms
            ))
            .with_retry_after(seconds)
        }
    }
}

fn safe_error(error: SafeError) -> Error {
    let refusal = Error::new(Code::Internal, word::HOST_ERROR, error.message);
    match error.data {
        Some(data) => refusal.with_data(data),
        None => refusal,
    }
}
