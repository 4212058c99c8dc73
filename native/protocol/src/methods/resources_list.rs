//! `resources/list` (MCP server/resources).

use crate::{
    catalog::{Catalog, Resource},
    methods::list::List,
};

pub(crate) const LIST: List<Resource> = List {
    name: "resources",
    section: Catalog::resources,
    hint: |hints| hints.resources,
};
