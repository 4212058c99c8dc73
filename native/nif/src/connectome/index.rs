//! Graphs as resources: read, sorted and written once, asked often.

use mcp_connectome::{Form, Graph};
use rustler::{Resource, ResourceArc};

use super::{given::Given, refusal::Refused};
use crate::workers;

/// A graph as given and in its canonical form.
pub(crate) struct GraphIndex(Option<Box<(Graph, Form)>>);

impl GraphIndex {
    pub(super) fn new<'a>(given: &Given<'a>) -> Result<ResourceArc<Self>, Refused<'a>> {
        let (graph, form) = given.form()?;
        Ok(ResourceArc::new(Self(Some(Box::new((graph, form))))))
    }

    pub(super) fn graph(&self) -> &Graph {
        &self.held().0
    }

    pub(super) fn form(&self) -> &Form {
        &self.held().1
    }

    fn held(&self) -> &(Graph, Form) {
        let held = self.0.as_ref();
        held.expect("the graph is taken out by the destructor alone")
    }
}

#[rustler::resource_impl]
impl Resource for GraphIndex {}

impl Drop for GraphIndex {
    fn drop(&mut self) {
        let held = self.0.take();
        workers::elsewhere(move || drop(held));
    }
}
