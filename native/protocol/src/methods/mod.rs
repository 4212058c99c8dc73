//! What each method answers, as pure functions of the request and the snapshot.

pub(crate) mod blocks;
pub(crate) mod capabilities;
pub(crate) mod completion_complete;
pub(crate) mod discover;
pub(crate) mod initialize;
pub(crate) mod list;
pub(crate) mod params;
pub(crate) mod prompts_get;
pub(crate) mod prompts_list;
pub(crate) mod resource_templates_list;
pub(crate) mod resources_list;
pub(crate) mod resources_read;
pub(crate) mod tools_call;
pub(crate) mod tools_list;
