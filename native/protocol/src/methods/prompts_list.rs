//! `prompts/list` (MCP server/prompts).

use crate::{
    catalog::{Catalog, Prompt},
    methods::list::List,
};

pub(crate) const LIST: List<Prompt> = List {
    name: "prompts",
    section: Catalog::prompts,
    hint: |hints| hints.prompts,
};
