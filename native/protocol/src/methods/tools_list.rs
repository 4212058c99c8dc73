//! `tools/list` (MCP server/tools).

use crate::{
    catalog::{Catalog, Tool},
    methods::list::List,
};

pub(crate) const LIST: List<Tool> = List {
    name: "tools",
    section: Catalog::tools,
    hint: |hints| hints.tools,
};
