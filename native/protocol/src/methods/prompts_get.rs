//! `prompts/get`: its parameters and its results (MCP server/prompts).

use std::sync::Arc;

use mcp_json::{Kind, Node, NodeId};

use crate::{
    catalog::{Catalog, Prompt},
    encode::Members,
    error::{Code, Error},
    excerpt::{excerpt, plain_excerpt},
    methods::{
        blocks::for_revision,
        params::{Params, invalid},
    },
    outcome::PromptResult,
    revision::Revision,
    word,
};

/// The prompt and the arguments that `params` name; arguments are strings, and the required ones are there (PRM-5).
pub(crate) fn read(
    params: Params<'_>,
    catalog: &Catalog,
) -> Result<(Arc<Prompt>, Option<NodeId>), Error> {
    let name = params.string("name")?;
    let arguments = params.object("arguments")?;
    check_strings(arguments)?;
    let prompt = catalog
        .prompt(&name)
        .ok_or_else(|| invalid(format!("Unknown prompt: {}", plain_excerpt(&name))))?;
    check_required(prompt, arguments)?;
    Ok((Arc::clone(prompt), arguments.map(Node::id)))
}

/// Writes the members of a result.
pub(crate) fn write(result: &mut Members<'_>, prompt: &PromptResult, revision: Revision) {
    if let Some(description) = &prompt.description {
        result.string("description", description);
    }
    result.raw("messages", for_revision(&prompt.messages, revision));
}

pub(super) fn check_strings(arguments: Option<Node<'_>>) -> Result<(), Error> {
    let mut members = arguments.into_iter().flat_map(Node::members);
    match members.find(|(_, value)| value.kind() != Kind::String) {
        Some((name, _)) => Err(invalid(format!(
            "The argument {} must be a string",
            excerpt(name.as_bytes())
        ))),
        None => Ok(()),
    }
}

fn check_required(prompt: &Prompt, arguments: Option<Node<'_>>) -> Result<(), Error> {
    let given = |name: &str| arguments.is_some_and(|node| node.get(name).is_some());
    let missing: Vec<&str> = prompt
        .arguments
        .iter()
        .filter(|argument| argument.required == Some(true) && !given(&argument.name))
        .map(|argument| argument.name.as_str())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "The prompt {} needs the arguments: {}",
        prompt.name,
        missing.join(", ")
    );
    Err(Error::new(Code::InvalidParams, word::ARGUMENTS, message))
}
