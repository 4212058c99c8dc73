//! Serving a settled request: steps 13 to 18 of table 0.7.

use std::sync::Arc;

use mcp_json::Node;
use mcp_schema::Faults;
use serde_json::json;

use super::{Carrier, Exchange, Reply, Request, Stage, busy, internal};
use crate::{
    call::{Call, CallOutcome, ToolResult},
    catalog::Tool,
    context::RequestContext,
    error::Error,
    http,
    method::Method,
    methods::{discover, tools_call, tools_list},
    question::{Ask, Computation, Computed, Instance, LARGE_INSTANCE_BYTES, Unanswered},
    revision::{Era, Revision},
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// Loads the caller's own catalog where there is one, then serves.
    pub(super) fn begin(&mut self, now: Now, request: Request) -> Step {
        if request.method != Method::ToolsCall
            && let Err(error) = request.check_optional_meta()
        {
            return self.refuse(error);
        }
        if self.is_pipe() {
            let key = request.cancel_key.as_ref();
            self.cancel_id = key.map(|(_, id)| id.clone());
        }
        let needs_catalog = matches!(
            request.method,
            Method::Discover | Method::ToolsList | Method::ToolsCall
        );
        if self.shared.config.caller_catalog && needs_catalog {
            let timeout_ms = self.shared.config.hook_timeout_ms;
            let context = Box::new(self.context(now, &request, timeout_ms));
            return self.ask(Stage::LoadingCatalog(request), Ask::Catalog(context));
        }
        self.serve(now, request)
    }

    pub(super) fn serve(&mut self, now: Now, request: Request) -> Step {
        match request.method {
            Method::Discover => {
                let (shared, catalog) = (Arc::clone(&self.shared), Arc::clone(&self.catalog));
                self.result(&request.reply(), None, |result| {
                    discover::write(result, &shared.config, &catalog);
                })
            }
            Method::ToolsList => self.list_tools(&request),
            Method::ToolsCall => match self.call_tool(now, request) {
                Ok(step) => step,
                Err(error) => self.refuse(error),
            },
            _ => self.result(&request.reply(), None, |_| ()),
        }
    }

    fn list_tools(&mut self, request: &Request) -> Step {
        let (shared, catalog) = (Arc::clone(&self.shared), Arc::clone(&self.catalog));
        match tools_list::position(request.params(), &shared, &catalog) {
            Ok(position) => self.result(&request.reply(), None, |result| {
                tools_list::write(result, &shared, &catalog, request.revision, position);
            }),
            Err(error) => self.refuse(error),
        }
    }

    fn call_tool(&mut self, now: Now, request: Request) -> Result<Step, Error> {
        let (tool, arguments) = tools_call::read(request.params(), &self.catalog)?;
        self.summary.definition = Some(Arc::clone(&tool.name));
        if let (Some(head), Era::Modern) = (self.head(), request.revision.era()) {
            let arguments = arguments.map(|node| request.document.node(node));
            http::check_params(head, &tool.headers, arguments)?;
        }
        request.check_optional_meta()?;
        let (Some(schema), Some(node)) = (tool.input.clone(), arguments) else {
            let absent = tool.input.as_ref().map(|schema| schema.check(&json!({})));
            return Ok(self.arguments_checked(now, request, tool, absent.unwrap_or(Ok(()))));
        };
        let instance = request.document.node(node);
        if instance.raw().len() <= LARGE_INSTANCE_BYTES {
            let checked = schema.check_node(instance);
            return Ok(self.arguments_checked(now, request, tool, checked));
        }
        self.stage = Stage::CheckingArguments(tool);
        let instance = Instance::Arguments(Box::new(request), node);
        Ok(Step::Compute(Box::new(Computation { schema, instance })))
    }

    pub(super) fn arguments_computed(
        &mut self,
        now: Now,
        tool: Arc<Tool>,
        computed: Computed,
    ) -> Step {
        match computed.instance {
            Instance::Arguments(request, _) => {
                self.arguments_checked(now, *request, tool, computed.result)
            }
            Instance::Result(_) => self.refuse(internal(
                word::DRIVER,
                "The server lost track of this request",
            )),
        }
    }

    fn arguments_checked(
        &mut self,
        now: Now,
        request: Request,
        tool: Arc<Tool>,
        checked: Result<(), Faults>,
    ) -> Step {
        match checked {
            Ok(()) => self.dispatch(now, request, tool),
            Err(faults) => {
                self.summary.refusal = Some(word::ARGUMENTS);
                let text = format!("Invalid arguments for {}:\n{faults}", tool.name);
                self.tool_result(&request.reply(), &tools_call::error_result(&text))
            }
        }
    }

    /// Hands the call to the host. A tool without an input schema takes no arguments, whatever the client sent.
    fn dispatch(&mut self, now: Now, request: Request, tool: Arc<Tool>) -> Step {
        let context = self.context(now, &request, self.shared.config.call_timeout_ms);
        let reply = request.reply();
        let arguments = match &tool.input {
            Some(_) => request
                .params()
                .and_then(|params| params.get("arguments"))
                .map(Node::id),
            None => None,
        };
        let call = Box::new(Call {
            tool: Arc::clone(&tool),
            arguments,
            context,
            cancel_key: request.cancel_key,
        });
        self.ask(Stage::Calling(reply, tool), Ask::Call(call))
    }

    pub(super) fn called(&mut self, reply: Reply, tool: &Tool, outcome: CallOutcome) -> Step {
        let result = match outcome {
            CallOutcome::Tool(result) => result,
            CallOutcome::Failed => return self.tool_failed(&reply, None),
        };
        let schema = match &tool.output {
            Some(schema) if !result.is_error => Arc::clone(schema),
            _ => return self.tool_result(&reply, &result),
        };
        if result.structured.is_none() {
            let fault =
                "the tool has an output_schema and returned no structured content".to_owned();
            return self.tool_failed(&reply, Some(fault));
        }
        if result
            .structured
            .as_ref()
            .is_some_and(|json| json.len() <= LARGE_INSTANCE_BYTES)
        {
            let checked = result.check(&schema);
            return self.result_checked(&reply, &result, checked);
        }
        self.stage = Stage::CheckingResult(reply);
        let instance = Instance::Result(result);
        Step::Compute(Box::new(Computation { schema, instance }))
    }

    pub(super) fn result_computed(&mut self, reply: &Reply, computed: Computed) -> Step {
        match computed.instance {
            Instance::Result(result) => self.result_checked(reply, &result, computed.result),
            Instance::Arguments(..) => self.tool_failed(reply, None),
        }
    }

    fn result_checked(
        &mut self,
        reply: &Reply,
        result: &ToolResult,
        checked: Result<(), Faults>,
    ) -> Step {
        let Err(faults) = checked else {
            return self.tool_result(reply, result);
        };
        let places: Vec<String> = faults
            .faults
            .iter()
            .map(|fault| format!("{}: expected {}", fault.pointer, fault.expected))
            .collect();
        let fault = format!(
            "the result breaks the tool's output_schema: {}",
            places.join("; ")
        );
        self.tool_failed(reply, Some(fault))
    }

    pub(super) fn call_unanswered(&mut self, reply: &Reply, why: Unanswered) -> Step {
        match why {
            Unanswered::Failed => {
                let fault = "the process that ran the tool ended without an answer";
                self.tool_failed(reply, Some(fault.into()))
            }
            Unanswered::Deadline => {
                let limit = self.shared.config.call_timeout_ms;
                self.tool_failed(
                    reply,
                    Some(format!(
                        "the tool ran longer than call_timeout_ms ({limit})"
                    )),
                )
            }
            Unanswered::Cancelled => self.cancelled(),
            why => self.refuse(busy(why)),
        }
    }

    /// The fixed text of a host fault; `fault` is for the host's log.
    pub(super) fn tool_failed(&mut self, reply: &Reply, fault: Option<String>) -> Step {
        self.summary.host_fault = fault;
        self.summary.refusal = Some(word::HOST_FAULT);
        self.tool_result(reply, &tools_call::failed())
    }

    fn tool_result(&mut self, reply: &Reply, result: &ToolResult) -> Step {
        let meta = result.meta.as_deref();
        self.result(reply, meta, |members| {
            tools_call::write(members, result, reply.revision);
        })
    }

    /// What is answered in place of a result that is too large to send.
    pub(super) fn oversized(&mut self, reply: &Reply, bytes: usize) -> Step {
        let limit = self.shared.config.max_result_bytes;
        let fault = format!("the result takes {bytes} bytes, over max_result_bytes ({limit})");
        if self.summary.method == Some(Method::ToolsCall) && self.summary.host_fault.is_none() {
            return self.tool_failed(reply, Some(fault));
        }
        self.summary.host_fault = Some(fault);
        self.refuse(internal(word::HOST_FAULT, "The server failed"))
    }

    fn context(&self, now: Now, request: &Request, timeout_ms: u64) -> RequestContext {
        let meta = request.params().and_then(|params| params.get("_meta"));
        RequestContext {
            id: request.id.clone(),
            method: request.method,
            revision: request.revision,
            identity: self.identity.clone(),
            session: request.session.clone(),
            head: self.head().cloned(),
            deadline_ms: now.wall_ms + timeout_ms,
            message: Arc::clone(&request.document),
            meta: meta.map(Node::id),
            client: request.client.clone(),
        }
    }

    pub(super) fn initialize_result(&mut self, revision: Revision, session: Option<&str>) -> Step {
        let Some(id) = self.id.clone() else {
            return self.refuse(internal(word::DRIVER, "initialize has an id"));
        };
        let (shared, catalog) = (Arc::clone(&self.shared), Arc::clone(&self.catalog));
        let step = self.result(&Reply { id, revision }, None, |result| {
            crate::methods::initialize::write(result, &shared.config, &catalog, revision);
        });
        match (step, session) {
            (Step::Answer(mut answer), Some(session)) => {
                answer
                    .headers
                    .push(("mcp-session-id", session.to_owned().into()));
                Step::Answer(answer)
            }
            (step, _) => step,
        }
    }

    /// Whether the peer reads event streams only, so that a result must come as one (D17).
    pub(super) fn wants_stream(&self) -> bool {
        match &self.carrier {
            Carrier::Http { accepts, .. } => !accepts.json,
            Carrier::Pipe { .. } => false,
        }
    }

    pub(super) fn admits_stream(&self) -> bool {
        match &self.carrier {
            Carrier::Http { accepts, .. } => accepts.event_stream,
            Carrier::Pipe { .. } => false,
        }
    }
}
