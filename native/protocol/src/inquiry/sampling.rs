//! Sampling: a message that the client's model is asked for (MCP client/sampling).

use serde_json::{Value, json};

use super::shape::{Shape, check_members, member};
use crate::revision::Revision;

const PARAMS: &[(&str, Shape)] = &[
    ("messages", Shape::Array),
    ("maxTokens", Shape::Positive),
    ("modelPreferences", Shape::Object),
    ("systemPrompt", Shape::String),
    (
        "includeContext",
        Shape::OneOf(&["none", "thisServer", "allServers"]),
    ),
    ("temperature", Shape::Number),
    ("stopSequences", Shape::Strings),
    ("metadata", Shape::Object),
    ("tools", Shape::Array),
    ("toolChoice", Shape::Object),
];

const PREFERENCES: &[(&str, Shape)] = &[
    ("hints", Shape::Array),
    ("costPriority", Shape::Share),
    ("speedPriority", Shape::Share),
    ("intelligencePriority", Shape::Share),
];

/// The blocks that a message may hold, with the members that each needs.
const BLOCKS: &[(&str, &[(&str, Shape)])] = &[
    ("text", &[("text", Shape::String)]),
    (
        "image",
        &[("data", Shape::String), ("mimeType", Shape::String)],
    ),
    (
        "audio",
        &[("data", Shape::String), ("mimeType", Shape::String)],
    ),
    (
        "tool_use",
        &[
            ("id", Shape::String),
            ("name", Shape::String),
            ("input", Shape::Object),
        ],
    ),
    (
        "tool_result",
        &[("toolUseId", Shape::String), ("content", Shape::Array)],
    ),
];

/// Checks the parameters; an error says in one sentence what the host has to mend.
pub(super) fn check(params: &Value) -> Result<(), String> {
    check_members(params, "params", PARAMS)?;
    if member(params, "maxTokens").is_none() {
        return Err("params.maxTokens is missing".into());
    }
    if let Some(preferences) = member(params, "modelPreferences") {
        check_members(preferences, "params.modelPreferences", PREFERENCES)?;
    }
    if let Some(choice) = member(params, "toolChoice") {
        let modes = Shape::OneOf(&["auto", "required", "none"]);
        check_members(choice, "params.toolChoice", &[("mode", modes)])?;
    }
    let messages = params["messages"].as_array().filter(|all| !all.is_empty());
    let messages = messages.ok_or("params.messages needs at least one message")?;
    for (position, message) in messages.iter().enumerate() {
        check_message(message, &format!("params.messages[{position}]"))?;
    }
    check_turns(messages)
}

/// Whether tools are in play, which a client declares beyond sampling itself (SAM-1).
pub(super) fn has_tools(params: &Value) -> bool {
    let has = |name| member(params, name).is_some();
    let messages = params["messages"].as_array();
    let mut blocks = messages.into_iter().flatten().flat_map(blocks);
    has("tools") || has("toolChoice") || blocks.any(is_tool_block)
}

/// The parameters in the words of `revision`, without the context that a client did not declare (SAM-1); `None` where
/// they do not suffice: 2025-06-18 has one block a message, and no tools.
pub(super) fn for_revision(
    params: &Value,
    revision: Revision,
    capabilities: &Value,
) -> Option<Value> {
    let mut params = params.clone();
    if revision != Revision::R20250618 {
        if member(&capabilities["sampling"], "context").is_none() {
            params.as_object_mut()?.shift_remove("includeContext");
        }
        return Some(params);
    }
    if has_tools(&params) {
        return None;
    }
    for message in params["messages"].as_array_mut()? {
        if let Value::Array(blocks) = &mut message["content"] {
            let block = blocks.pop().filter(|_| blocks.is_empty())?;
            message["content"] = block;
        }
        message.as_object_mut()?.shift_remove("_meta");
    }
    Some(params)
}

fn check_message(message: &Value, place: &str) -> Result<(), String> {
    let content = match message["content"] {
        Value::Array(_) => Shape::Array,
        _ => Shape::Object,
    };
    let rules = [
        ("role", Shape::OneOf(&["user", "assistant"])),
        ("content", content),
        ("_meta", Shape::Object),
    ];
    check_members(message, place, &rules)?;
    for needed in ["role", "content"] {
        if member(message, needed).is_none() {
            return Err(format!("{place}.{needed} is missing"));
        }
    }
    blocks(message).try_for_each(|block| check_block(block, &format!("{place}.content")))
}

fn check_block(block: &Value, place: &str) -> Result<(), String> {
    let kind = block["type"].as_str().unwrap_or_default();
    let Some((_, needed)) = BLOCKS.iter().find(|(name, _)| *name == kind) else {
        let known: Vec<&str> = BLOCKS.iter().map(|(name, _)| *name).collect();
        return Err(format!("{place}.type must be one of {}", known.join(", ")));
    };
    for (name, shape) in *needed {
        let there = member(block, name).ok_or_else(|| format!("{place}.{name} is missing"))?;
        check_members(&json!({*name: there}), place, &[(name, *shape)])?;
    }
    Ok(())
}

/// Every use of a tool is answered by the next message, which holds results and nothing else (SAM-4).
fn check_turns(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        let place = format!("params.messages[{position}]");
        let results: Vec<&str> = ids(message, "tool_result", "toolUseId");
        if !results.is_empty() && results.len() != blocks(message).count() {
            return Err(format!(
                "{place} has tool results beside other content: put that into a message of its own"
            ));
        }
        if let Some(unanswered) = open.iter().find(|id| !results.contains(id)) {
            return Err(format!(
                "{place} must hold the result of the tool use {unanswered:?}"
            ));
        }
        if let Some(unknown) = results.iter().find(|id| !open.contains(id)) {
            return Err(format!(
                "{place} has a result for {unknown:?}, which the message before does not use"
            ));
        }
        open = ids(message, "tool_use", "id");
    }
    match open.first() {
        Some(id) => Err(format!(
            "params.messages ends with the tool use {id:?} unanswered"
        )),
        None => Ok(()),
    }
}

fn ids<'a>(message: &'a Value, kind: &str, id: &str) -> Vec<&'a str> {
    blocks(message)
        .filter(|block| block["type"] == kind)
        .filter_map(|block| block[id].as_str())
        .collect()
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    match &message["content"] {
        Value::Array(blocks) => blocks.as_slice(),
        block => std::slice::from_ref(block),
    }
    .iter()
}

fn is_tool_block(block: &Value) -> bool {
    block["type"] == "tool_use" || block["type"] == "tool_result"
}
