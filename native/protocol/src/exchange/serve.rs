//! Serving a settled request: step 13 of table 0.7, and all of what needs no handler.

use std::sync::Arc;

use super::{Exchange, Reply, Request, Stage, internal, named::Named};
use crate::{
    context::{RequestContext, TRACE_KEYS, Transport},
    head::RequestHead,
    method::{Feature, Method},
    methods::{discover, initialize},
    question::Ask,
    revision::Revision,
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// Loads the caller's own catalog where there is one, then decides over the request and serves it.
    pub(super) fn begin(&mut self, now: Now, request: Request) -> Step {
        if !Named::is_named_by(request.method)
            && let Some(refusal) = self.check_scopes(now, request.method, request.params())
        {
            return refusal;
        }
        if self.is_pipe() {
            let key = request.cancel_key.as_ref();
            self.cancel_id = key.map(|(_, id)| id.clone());
        }
        if self.shared.config.caller_catalog && needs_catalog(request.method) {
            let timeout_ms = self.shared.config.hook_timeout_ms;
            let context = Box::new(self.context(now, &request, timeout_ms));
            return self.ask(
                Stage::LoadingCatalog(Box::new(request)),
                Ask::Catalog(context),
            );
        }
        self.admit(now, request)
    }

    pub(super) fn serve(&mut self, now: Now, request: Request) -> Step {
        let served = match request.method {
            Method::ToolsCall => self.call_tool(now, request),
            Method::ResourcesRead => self.read_resource(now, request),
            Method::PromptsGet => self.get_prompt(now, request),
            Method::ToolsList
            | Method::ResourcesList
            | Method::ResourceTemplatesList
            | Method::PromptsList => self.list(now, request),
            Method::Complete => self.complete(now, request),
            Method::SetLogLevel => self.set_log_level(request),
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => self.subscribe(&request),
            Method::TasksGet | Method::TasksUpdate | Method::TasksCancel => self.ask_task(&request),
            Method::Listen => self.listen(now, request),
            Method::Discover => Ok(self.discover(&request)),
            _ => Ok(self.result(&request.reply(), None, |_| ())),
        };
        served.unwrap_or_else(|error| self.refuse(error))
    }

    fn discover(&mut self, request: &Request) -> Step {
        let (shared, catalog) = (Arc::clone(&self.shared), Arc::clone(self.catalog()));
        self.result(&request.reply(), None, |result| {
            discover::write(result, &shared.config, &catalog, request.revision);
        })
    }

    pub(super) fn context(&self, now: Now, request: &Request, timeout_ms: u64) -> RequestContext {
        RequestContext {
            id: request.id.clone(),
            method: request.method,
            revision: request.revision,
            identity: self.identity.clone(),
            session: request.session.clone(),
            transport: self.transport(),
            head: self.head_for_host(),
            deadline_ms: now.wall_ms + timeout_ms,
            message: Arc::clone(&request.document),
            meta: request.meta,
            client: request.client.clone(),
        }
    }

    pub(super) fn transport(&self) -> Transport {
        match self.is_pipe() {
            true => Transport::Stdio,
            false => Transport::Http,
        }
    }

    /// Most heads have nothing that a handler may see, and those stay on their thread.
    pub(super) fn head_for_host(&self) -> Option<Arc<RequestHead>> {
        let head = self.head()?;
        let is_traced = || TRACE_KEYS.iter().any(|name| head.has(name));
        let is_shown = !self.shared.config.context_headers.is_empty() || is_traced();
        is_shown.then(|| Arc::clone(head))
    }

    pub(super) fn initialize_result(&mut self, revision: Revision, session: Option<&str>) -> Step {
        let Some(id) = self.id.clone() else {
            return self.refuse(internal(word::DRIVER, "initialize has an id"));
        };
        let (shared, catalog) = (Arc::clone(&self.shared), Arc::clone(self.catalog()));
        let step = self.result(&Reply { id, revision }, None, |result| {
            initialize::write(result, &shared.config, &catalog, revision);
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
}

/// Whether a method's answer depends on the definitions.
fn needs_catalog(method: Method) -> bool {
    match method.feature() {
        Some(feature) => !matches!(feature, Feature::Logging | Feature::Tasks),
        None => method == Method::Discover,
    }
}
