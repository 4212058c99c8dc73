//! `tools/call`: steps 13 to 17 of table 0.7 before the handler, and its result held against the output schema.

use std::sync::Arc;

use mcp_json::NodeId;
use mcp_schema::Faults;
use serde_json::json;

use super::{Exchange, Reply, Request, Stage, internal};
use crate::{
    call::Target,
    catalog::Tool,
    error::Error,
    http,
    methods::tools_call,
    outcome::ToolResult,
    question::{Computation, Computed, Found, Instance, LARGE_INSTANCE_BYTES, Work},
    revision::Era,
    step::Step,
    task::TaskSupport,
    time::Now,
    word,
};

impl Exchange {
    pub(super) fn call_tool(&mut self, now: Now, mut request: Request) -> Result<Step, Error> {
        let (tool, arguments) = tools_call::read(request.named_params(), self.catalog())?;
        self.summary.definition = Some(Arc::clone(&tool.name));
        if let (Some(head), Era::Modern) = (self.head(), request.revision.era()) {
            let arguments = arguments.map(|node| request.document.node(node));
            http::check_params(head, &tool.headers, arguments)?;
        }
        request.check_optional_meta()?;
        if tool.task_support == TaskSupport::Required && !request.takes_tasks() {
            return self.refuse_without_tasks(&request, &tool);
        }
        self.read_inputs(now, &mut request)?;
        let (Some(schema), Some(node)) = (&tool.input, arguments) else {
            let absent = tool.input.as_ref().map(|schema| schema.check(&json!({})));
            return self.arguments_checked(now, request, tool, None, absent.unwrap_or(Ok(())));
        };
        let instance = request.document.node(node);
        if instance.raw().len() <= LARGE_INSTANCE_BYTES {
            let checked = schema.check_node(instance);
            return self.arguments_checked(now, request, tool, Some(node), checked);
        }
        let instance = Instance::Arguments(Box::new(request), node);
        let work = Work::Check(Arc::clone(schema), instance);
        self.stage = Stage::CheckingArguments(tool);
        Ok(Step::Compute(Box::new(Computation(work))))
    }

    pub(super) fn arguments_computed(
        &mut self,
        now: Now,
        tool: Arc<Tool>,
        computed: Computed,
    ) -> Step {
        let Found::Checked(Instance::Arguments(request, node), checked) = computed.0 else {
            let message = "The server lost track of this request";
            return self.refuse(internal(word::DRIVER, message));
        };
        self.arguments_checked(now, *request, tool, Some(node), checked)
            .unwrap_or_else(|error| self.refuse(error))
    }

    /// A tool without an input schema takes no arguments, whatever the client sent.
    fn arguments_checked(
        &mut self,
        now: Now,
        request: Request,
        tool: Arc<Tool>,
        arguments: Option<NodeId>,
        checked: Result<(), Faults>,
    ) -> Result<Step, Error> {
        if let Err(faults) = checked {
            self.summary.refusal = Some(word::ARGUMENTS);
            let text = format!("Invalid arguments for {}:\n{faults}", tool.name);
            return Ok(self.tool_result(&request.reply(), &tools_call::error_result(&text)));
        }
        self.dispatch(now, request, Target::Tool(tool), arguments)
    }

    pub(super) fn tool_called(&mut self, reply: Reply, tool: &Tool, result: ToolResult) -> Step {
        let schema = match &tool.output {
            Some(schema) if !result.is_error => Arc::clone(schema),
            _ => return self.tool_result(&reply, &result),
        };
        let Some(structured) = &result.structured else {
            return self.host_failed(&reply, Some(tools_call::NO_STRUCTURED.into()));
        };
        if structured.len() <= LARGE_INSTANCE_BYTES {
            let checked = result.check(&schema);
            return self.result_checked(&reply, &result, checked);
        }
        self.stage = Stage::CheckingResult(reply);
        let work = Work::Check(schema, Instance::Result(result));
        Step::Compute(Box::new(Computation(work)))
    }

    pub(super) fn result_computed(&mut self, reply: &Reply, computed: Computed) -> Step {
        match computed.0 {
            Found::Checked(Instance::Result(result), checked) => {
                self.result_checked(reply, &result, checked)
            }
            _ => self.host_failed(reply, None),
        }
    }

    fn result_checked(
        &mut self,
        reply: &Reply,
        result: &ToolResult,
        checked: Result<(), Faults>,
    ) -> Step {
        match checked {
            Ok(()) => self.tool_result(reply, result),
            Err(faults) => self.host_failed(reply, Some(tools_call::broken(&faults))),
        }
    }

    pub(super) fn tool_result(&mut self, reply: &Reply, result: &ToolResult) -> Step {
        let meta = result.meta.as_deref();
        self.result(reply, meta, |members| {
            tools_call::write(members, result, reply.revision);
        })
    }
}
