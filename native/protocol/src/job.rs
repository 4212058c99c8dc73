//! The work of a task, once the call that began it has its answer: what it asks its client, and how it ends
//! (MCP extension `io.modelcontextprotocol/tasks`).

use std::{fmt, sync::Arc};

use mcp_json::Node;

use crate::{
    catalog::{Place, Tool},
    config::Config,
    encode::{self, ResultType},
    error::Error,
    inquiry::{InputAnswer, InputKind, InputQuestion, Inquired, Inquiry, missing_capability},
    methods::tools_call,
    outcome::{CallOutcome, ToolResult},
    request_id::MAX_ID_BYTES,
    revision::Revision,
};

/// What is left of a call that became a task.
pub struct Job {
    tool: Arc<Tool>,
    inquiry: Box<Inquiry>,
    config: Arc<Config>,
    /// Its place among those of its tool that may run at once.
    place: Option<Arc<Place>>,
}

/// What comes of a question.
#[derive(Debug)]
pub enum JobAsked {
    /// The answers, in the order of the questions.
    Answers(Vec<InputAnswer>),
    /// The client has to give these `inputRequests`.
    Open(Vec<u8>),
    /// The client cannot be asked, which ends the task with this error.
    Lacks(Vec<u8>),
}

/// How the work of a task ended.
pub struct Ended {
    /// The result, as a JSON text.
    pub result: Vec<u8>,
    /// What the host did wrong, for its log.
    pub fault: Option<String>,
}

impl Job {
    /// Lets go of the call's message.
    pub fn new(
        tool: Arc<Tool>,
        inquiry: Inquiry,
        config: Arc<Config>,
        place: Option<Arc<Place>>,
    ) -> Self {
        Self {
            tool,
            inquiry: Box::new(inquiry.detached()),
            config,
            place,
        }
    }

    /// Asks the client; options as of [`Inquiry::ask`].
    ///
    /// # Errors
    /// A question that the host has to mend, in one sentence.
    pub fn ask(
        &mut self,
        questions: Vec<InputQuestion>,
        optional: bool,
    ) -> Result<JobAsked, String> {
        let unsent = |_| String::new();
        Ok(match self.inquiry.ask(questions, optional, unsent)? {
            Inquired::Answers(answers) => JobAsked::Answers(answers),
            Inquired::Ends | Inquired::Refused | Inquired::Sends(_) => {
                match self.inquiry.undeclared() {
                    [] => JobAsked::Open(self.inquiry.input_requests()),
                    kinds => JobAsked::Lacks(failure(&missing_capability(kinds))),
                }
            }
        })
    }

    /// Takes a response to what was asked under `key`; one that does not fit, or that nothing awaits, is ignored.
    pub fn hear(&mut self, key: &str, response: Node<'_>) {
        self.inquiry.answer(key, response);
    }

    /// How many bytes of answers it holds; answers are never taken back.
    pub fn answer_bytes(&self) -> usize {
        self.inquiry.bytes()
    }

    /// The answers to the last questions, or what is still open of them.
    pub fn heard(&self) -> JobAsked {
        match self.inquiry.answers() {
            Some(answers) => JobAsked::Answers(answers),
            None => JobAsked::Open(self.inquiry.input_requests()),
        }
    }

    /// Whether the client can be asked for this.
    pub fn supports(&self, kind: InputKind) -> bool {
        self.inquiry.supports(kind)
    }

    /// What the task becomes by how its work ended. Its place is free from now on.
    pub fn end(&self, outcome: CallOutcome) -> Ended {
        if let Some(place) = &self.place {
            place.give_back();
        }
        let (result, fault) = match outcome {
            CallOutcome::Tool(result) => match tools_call::output_fault(&self.tool, &result) {
                None => (result, None),
                Some(fault) => (tools_call::failed(), Some(fault)),
            },
            CallOutcome::SafeError(error) => (tools_call::error_result(&error.message), None),
            CallOutcome::Failed => (tools_call::failed(), None),
            outcome => {
                let fault = format!("{outcome:?} is no answer for {:?}", self.tool);
                (tools_call::failed(), Some(fault))
            }
        };
        let json = self.inlined(&result);
        let most = self.max_bytes();
        if json.len() <= most {
            return Ended {
                result: json,
                fault,
            };
        }
        let fault = format!(
            "the result takes {} bytes, over the {most} that max_result_bytes leaves",
            json.len()
        );
        Ended {
            result: self.inlined(&tools_call::failed()),
            fault: Some(fault),
        }
    }

    /// The result as the call would have had it.
    fn inlined(&self, result: &ToolResult) -> Vec<u8> {
        let mut out = Vec::with_capacity(512);
        let (revision, meta) = (Revision::R20260728, result.meta.as_deref());
        let complete = ResultType::Complete;
        encode::write_result(
            &mut out,
            &self.config,
            revision,
            complete,
            meta,
            |members| {
                tools_call::write(members, result, revision);
            },
        );
        out
    }

    /// The task around it has to fit into a result too.
    fn max_bytes(&self) -> usize {
        let server_info = &self.config.server_info[Revision::R20260728.index()];
        let around = server_info.len() + MAX_ID_BYTES + AROUND_BYTES;
        self.config.max_result_bytes.saturating_sub(around)
    }
}

fn failure(error: &Error) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    encode::write_error(&mut out, error);
    out
}

/// Of a task without what goes with its status: its status message, its id, its dates.
const AROUND_BYTES: usize = 2_048;

/// Shows the tool.
impl fmt::Debug for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Job({:?})", self.tool)
    }
}
