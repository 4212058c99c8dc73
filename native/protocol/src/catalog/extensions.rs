//! Which extensions the tools of a catalog use: counted as they come and go, so that nobody has to look for them.

use serde_json::Value;

use super::tool::Tool;
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
            count(&mut self.apps, tool.is_app, more);
        }
    }
}

/// Whether a tool's `_meta` names a page that shows it (MCP Apps, "Tool Metadata"), in either spelling.
pub(super) fn names_page(meta: Option<&Value>) -> bool {
    meta.is_some_and(|meta| {
        meta.pointer("/ui/resourceUri").is_some() || meta.get("ui/resourceUri").is_some()
    })
}

fn count(number: &mut usize, counts: bool, more: bool) {
    match (counts, more) {
        (true, true) => *number += 1,
        (true, false) => *number -= 1,
        (false, _) => {}
    }
}
