//! `resources/templates/list` (MCP server/resources).

use crate::{
    catalog::{Catalog, Template},
    methods::list::List,
};

pub(crate) const LIST: List<Template> = List {
    name: "resourceTemplates",
    section: Catalog::templates,
    hint: |hints| hints.resources,
};
