//! The lists: all of one, or, where rows may be hidden, those that the caller sees. They are left out before paging.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{Exchange, Request, Stage, internal};
use crate::{
    catalog::{Listed, Selection, Sieve},
    cursor::Caller,
    error::Error,
    method::Method,
    methods::{
        list::{List, Rows},
        prompts_list, resource_templates_list, resources_list, tools_list,
    },
    offer::OfferKind,
    question::{Ask, Computation, Computed, Found, Work},
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// One page of the list that the method names.
    pub(super) fn list(&mut self, now: Now, request: Request) -> Result<Step, Error> {
        match self.sieve(request.method, None) {
            Some(sieve) => self.select(now, request, sieve),
            None => self.page(request, None),
        }
    }

    /// The rows that pass by scopes are known, or all that do.
    pub(super) fn rows_selected(
        &mut self,
        now: Now,
        request: Request,
        is_final: bool,
        computed: Computed,
    ) -> Step {
        let Found::Selected(selection) = computed.0 else {
            let message = "The server lost track of this request";
            return self.refuse(internal(word::DRIVER, message));
        };
        self.selected(now, request, selection, is_final)
            .unwrap_or_else(|error| self.refuse(error))
    }

    /// The host said which rows the caller sees of those that pass by scopes; nothing for none.
    pub(super) fn sifted(&mut self, now: Now, request: Request, verdicts: Vec<u8>) -> Step {
        let listed = match self.sieve(request.method, Some(verdicts)) {
            Some(sieve) => self.select(now, request, sieve),
            None => self.page(request, None),
        };
        listed.unwrap_or_else(|error| self.refuse(error))
    }

    pub(super) fn list_digested(&mut self, request: Request) -> Step {
        self.page(request, None)
            .unwrap_or_else(|error| self.refuse(error))
    }

    /// What may hide rows of a list from the caller, if anything does.
    fn sieve(&self, method: Method, verdicts: Option<Vec<u8>>) -> Option<Sieve> {
        let policy = &self.shared.config.scopes;
        let granted = self.granted_scopes();
        let all_pass = granted.is_none() || self.catalog().is_open(method);
        if all_pass && !policy.authorizes_definitions {
            return None;
        }
        Some(Sieve {
            granted,
            hides: policy.hide_unauthorized || policy.gates.selects(method.as_str()),
            denial: self.usual_denial(OfferKind::of_list(method)),
            verdicts,
        })
    }

    fn select(&mut self, now: Now, request: Request, sieve: Sieve) -> Result<Step, Error> {
        let (catalog, method) = (Arc::clone(self.catalog()), request.method);
        let is_final =
            sieve.verdicts.is_some() || !self.shared.config.scopes.authorizes_definitions;
        if catalog.is_short(method) {
            let selection = catalog.select(method, &sieve);
            return self.selected(now, request, selection, is_final);
        }
        self.stage = Stage::SelectingRows(Box::new(request), is_final);
        let work = Work::Select(catalog, method, sieve);
        Ok(Step::Compute(Box::new(Computation(work))))
    }

    fn selected(
        &mut self,
        now: Now,
        request: Request,
        selection: Selection,
        is_final: bool,
    ) -> Result<Step, Error> {
        if is_final {
            return self.page(request, Some(selection));
        }
        let ask = Ask::Sift {
            context: Box::new(self.context(now, &request, self.shared.config.hook_timeout_ms)),
            kind: OfferKind::of_list(request.method),
            names: self.catalog().selected_names(request.method, &selection),
        };
        Ok(self.ask(Stage::Sifting(Box::new(request)), ask))
    }

    fn page(&mut self, request: Request, selection: Option<Selection>) -> Result<Step, Error> {
        match request.method {
            Method::ToolsList => self.page_of(request, selection, &tools_list::LIST),
            Method::ResourcesList => self.page_of(request, selection, &resources_list::LIST),
            Method::PromptsList => self.page_of(request, selection, &prompts_list::LIST),
            _ => self.page_of(request, selection, &resource_templates_list::LIST),
        }
    }

    fn page_of<D: Listed>(
        &mut self,
        request: Request,
        selection: Option<Selection>,
        list: &List<D>,
    ) -> Result<Step, Error> {
        let (shared, catalog) = (Arc::clone(&self.shared), Arc::clone(self.catalog()));
        let rows = Rows::new((list.section)(&catalog), selection);
        if rows.needs_digest(request.named_params(), shared.config.page_size) {
            self.stage = Stage::DigestingList(Box::new(request));
            return Ok(Step::Compute(Box::new(Computation(Work::Digest(catalog)))));
        }
        let caller = self.caller();
        let position = list.position(request.named_params(), &shared, &rows, &caller)?;
        Ok(self.result(&request.reply(), None, |result| {
            list.write(result, &shared, &rows, request.revision, position, &caller);
        }))
    }

    /// Whose the cursors are: they serve nobody else, and not the same one with other scopes.
    fn caller(&self) -> Caller {
        let Some(identity) = &self.identity else {
            return Caller::default();
        };
        let mut scopes: Vec<&str> = identity
            .scopes
            .iter()
            .flat_map(|scopes| scopes.iter())
            .collect();
        scopes.sort_unstable();
        let mut hash = Sha256::new();
        hash.update(identity.principal.as_bytes());
        // No scope has a space in it.
        for scope in scopes {
            hash.update(b" ");
            hash.update(scope);
        }
        Caller(hash.finalize().into())
    }
}
