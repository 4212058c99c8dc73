//! `completion/complete`: its parameters and its results (MCP server/utilities/completion).

use std::sync::Arc;

use mcp_json::{Node, NodeId};

use super::prompts_get::check_strings;
use crate::{
    call::Completing,
    catalog::{Catalog, Reference, Template},
    config::Config,
    encode::Members,
    error::Error,
    excerpt::{excerpt, plain_excerpt},
    methods::params::{Params, invalid, object},
    outcome::CompletionResult,
};

/// The most values of one answer (CMP-3).
const MAX_VALUES: usize = 100;

/// What is to be completed, and where the arguments that are settled already lie. `None` for an argument that nobody
/// completes, which has no values (CMP-6).
pub(crate) fn read(
    params: Params<'_>,
    catalog: &Catalog,
    config: &Config,
) -> Result<Option<(Completing, Option<NodeId>)>, Error> {
    let argument = params.get("argument");
    let text = |member| argument?.get(member)?.as_str();
    let (Some(name), Some(value)) = (text("name"), text("value")) else {
        return Err(invalid(
            "completion/complete needs \"params.argument\" with the strings \"name\" and \"value\"",
        ));
    };
    let context = params.object("context")?;
    let settled = object(
        context.and_then(|context| context.get("arguments")),
        &"params.context.arguments",
    )?;
    check_strings(settled)?;
    let reference = reference(params)?;
    let Some(defined) = defined(&reference, &name, catalog)? else {
        return Ok(None);
    };
    let completion = catalog.completion(&defined, &name).cloned();
    if completion.is_none() && !config.completes {
        return Ok(None);
    }
    let completing = Completing {
        completion,
        reference,
        argument: name.into(),
        value: value.into(),
    };
    Ok(Some((completing, settled.map(Node::id))))
}

/// Writes the members of a result.
pub(crate) fn write(result: &mut Members<'_>, completion: &CompletionResult) {
    let values = &completion.values;
    let is_cut = values.len() > MAX_VALUES;
    let total = completion.total.or(is_cut.then_some(values.len() as u64));
    let has_more = if is_cut {
        Some(true)
    } else {
        completion.has_more
    };
    let mut members = result.object("completion");
    members.strings("values", &values[..values.len().min(MAX_VALUES)]);
    if let Some(total) = total {
        members.integer("total", total as i64);
    }
    if let Some(has_more) = has_more {
        members.raw("hasMore", if has_more { "true" } else { "false" });
    }
    members.close();
}

/// Whose argument the client means.
fn reference(params: Params<'_>) -> Result<Reference, Error> {
    let node = params.get("ref");
    let text = |member| node?.get(member)?.as_str();
    let named = match text("type").as_deref() {
        Some("ref/prompt") => text("name").map(|name| Reference::Prompt(name.into())),
        Some("ref/resource") => text("uri").map(|uri| Reference::Resource(uri.into())),
        _ => None,
    };
    named.ok_or_else(|| {
        invalid(
            "completion/complete needs \"params.ref\": \
             {\"type\":\"ref/prompt\",\"name\":..} or {\"type\":\"ref/resource\",\"uri\":..}",
        )
    })
}

/// The definition that has the argument, as completions refer to it; `None` when it has no such argument.
fn defined(
    reference: &Reference,
    argument: &str,
    catalog: &Catalog,
) -> Result<Option<Reference>, Error> {
    match reference {
        Reference::Prompt(name) => match catalog.prompt(name) {
            Some(prompt) if prompt.takes(argument) => Ok(Some(reference.clone())),
            Some(_) => Ok(None),
            None => Err(invalid(format!("Unknown prompt: {}", plain_excerpt(name)))),
        },
        Reference::Resource(uri) => match template(uri, catalog) {
            Some(template) if template.takes(argument) => Ok(Some(Reference::Resource(
                Arc::clone(&template.uri_template),
            ))),
            None if catalog.resource(uri).is_none() => Err(invalid(format!(
                "Unknown resource: {}",
                excerpt(uri.as_bytes())
            ))),
            _ => Ok(None),
        },
    }
}

/// The template that a client names by its text, or by a URI that is read of it (RES-15).
fn template<'c>(uri: &str, catalog: &'c Catalog) -> Option<&'c Arc<Template>> {
    let read_of = || match catalog.resource(uri) {
        Some(_) => None,
        None => catalog.matching_template(uri).map(|(template, _)| template),
    };
    catalog.template(uri).or_else(read_of)
}
