//! What each method answers, as pure functions of the request and the snapshot.

pub(crate) mod discover;
pub(crate) mod initialize;
pub(crate) mod tools_call;
pub(crate) mod tools_list;
