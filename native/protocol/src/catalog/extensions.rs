//! Which extensions the tools of a catalog use: counted as they come and go, so that nobody has to look for them.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Catalog,
    definition::{DefinitionFault, fault},
    tool::Tool,
};
use crate::task::TaskSupport;

/// How many tools use each extension.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extensions {
    /// Those whose calls may become tasks.
    pub(super) tasks: usize,
    /// Those that are shown as an app.
    pub(super) apps: usize,
}

impl Extensions {
    /// Counts a tool that took the place of another, or of none.
    pub(super) fn replace(&mut self, before: Option<&Tool>, after: Option<&Tool>) {
        for (tool, more) in [(after, true), (before, false)] {
            let Some(tool) = tool else { continue };
            count(
                &mut self.tasks,
                tool.task_support != TaskSupport::Forbidden,
                more,
            );
            count(&mut self.apps, tool.page.is_some(), more);
        }
    }
}

/// The page that a tool's `_meta` names to show it (MCP Apps, "Tool Metadata"), in the newer spelling or the older.
pub(super) fn page(tool: &str, meta: Option<&Value>) -> Result<Option<Arc<str>>, DefinitionFault> {
    let named = meta.and_then(|meta| {
        let newer = meta.pointer("/ui/resourceUri");
        newer.or_else(|| meta.get("ui/resourceUri"))
    });
    match named.map(Value::as_str) {
        None => Ok(None),
        Some(Some(uri)) if uri.starts_with(SCHEME) => Ok(Some(uri.into())),
        Some(_) => {
            let message = "must be the URI of a page, such as \"ui://clock/main.html\"";
            Err(fault(tool, PLACE, message))
        }
    }
}

/// The fault of a tool whose page nobody could read (APP-4).
pub(super) fn missing_page(tool: &Tool, catalog: &Catalog) -> Option<DefinitionFault> {
    let uri = tool.page.as_deref()?;
    let is_there = catalog.resource(uri).is_some() || catalog.matching_template(uri).is_some();
    let message = format!("names {uri}, which is no resource: declare or register it too");
    (!is_there).then(|| fault(&tool.name, PLACE, message))
}

/// The fault of a page of another media type than pages have (APP-2).
pub(super) fn check_page(uri: &str, mime_type: Option<&str>) -> Result<(), DefinitionFault> {
    match uri.starts_with(SCHEME) && mime_type != Some(PAGE) {
        true => Err(fault(
            uri,
            "mime_type",
            format!("must be {PAGE:?} for a resource of scheme {SCHEME}"),
        )),
        false => Ok(()),
    }
}

const SCHEME: &str = "ui://";
const PAGE: &str = "text/html;profile=mcp-app";
const PLACE: &str = "_meta/ui/resourceUri";

fn count(number: &mut usize, counts: bool, more: bool) {
    match (counts, more) {
        (true, true) => *number += 1,
        (true, false) => *number -= 1,
        (false, _) => {}
    }
}
