//! What the tests serve beside tools: resources, templates, prompts and completions, and results of their handlers.

use std::sync::Arc;

use bytes::Bytes;
use mcp_protocol::{
    Access, Body, CacheChoice, CallOutcome, CompletionDefinition, CompletionKey, CompletionResult,
    Contents, Definition, Input, Piece, PromptArgument, PromptDefinition, PromptResult, Reference,
    ResourceDefinition, SafeError, TemplateDefinition,
};
use serde_json::{Value, json};

use super::{Server, tools};

/// A resource with a URI and a name.
pub fn resource(uri: &str) -> ResourceDefinition {
    ResourceDefinition {
        uri: uri.into(),
        name: uri.rsplit('/').next().unwrap_or_default().into(),
        title: None,
        description: None,
        mime_type: None,
        size: None,
        annotations: None,
        icons: None,
        meta: None,
        cache: CacheChoice::default(),
        access: Access::default(),
        handler: Arc::new(()),
    }
}

/// A template with its text and a name.
pub fn template(uri_template: &str) -> TemplateDefinition {
    TemplateDefinition {
        uri_template: uri_template.into(),
        name: "A family".into(),
        title: None,
        description: None,
        mime_type: None,
        annotations: None,
        icons: None,
        meta: None,
        cache: CacheChoice::default(),
        access: Access::default(),
        handler: Arc::new(()),
    }
}

/// A prompt with a name and arguments, those with an exclamation mark required.
pub fn prompt(name: &str, arguments: &[&str]) -> PromptDefinition {
    let argument = |name: &&str| PromptArgument {
        name: name.trim_end_matches('!').into(),
        title: None,
        description: None,
        required: name.ends_with('!').then_some(true),
    };
    PromptDefinition {
        name: name.into(),
        title: None,
        description: None,
        arguments: arguments.iter().map(argument).collect(),
        icons: None,
        meta: None,
        access: Access::default(),
        handler: Arc::new(()),
    }
}

/// A completion of an argument, or of all that have none.
pub fn completion(reference: Reference, argument: Option<&str>) -> CompletionDefinition {
    CompletionDefinition {
        key: CompletionKey {
            reference,
            argument: argument.map(Into::into),
        },
        handler: Arc::new(()),
    }
}

pub fn icons() -> Value {
    json!([{"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}])
}

/// Notes and a logo, users and files, a greeting, and completions of the greeting's name and of users.
pub fn offers() -> Vec<Definition> {
    let notes = ResourceDefinition {
        title: Some("Notes".into()),
        description: Some("What was noted".into()),
        mime_type: Some("text/plain".into()),
        size: Some(12),
        annotations: Some(json!({"audience": ["user"], "priority": 0.5})),
        icons: Some(icons()),
        meta: Some(json!({"com.example/rank": 1})),
        ..resource("test://notes")
    };
    let users = TemplateDefinition {
        title: Some("Users".into()),
        mime_type: Some("application/json".into()),
        icons: Some(icons()),
        ..template("test://users/{id}")
    };
    let greet = PromptDefinition {
        title: Some("Greeting".into()),
        description: Some("Greets somebody".into()),
        icons: Some(icons()),
        ..prompt("greet", &["name!", "style"])
    };
    let named = completion(Reference::Prompt("greet".into()), Some("name"));
    let user = completion(Reference::Resource("test://users/{id}".into()), None);
    let tools = tools().into_iter().map(Definition::from);
    tools
        .chain([
            notes.into(),
            resource("test://logo").into(),
            users.into(),
            template("test://files/{+path}").into(),
            greet.into(),
            named.into(),
            user.into(),
        ])
        .collect()
}

/// A server with all of it.
pub fn offering_all() -> Server {
    Server::offering(offers(), |_| ())
}

/// Contents of one text.
pub fn contents(text: &str) -> Input {
    pieces(vec![piece(Body::Text(json_text(text)))])
}

/// Contents of some pieces.
pub fn pieces(pieces: Vec<Piece>) -> Input {
    Input::Outcome(CallOutcome::Contents(Contents {
        pieces,
        ..Contents::default()
    }))
}

/// A piece of what was asked for.
pub fn piece(body: Body) -> Piece {
    Piece {
        uri: None,
        mime_type: None,
        body,
        meta: None,
    }
}

/// A prompt of one message.
pub fn message(text: &str) -> Input {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": text}}]);
    Input::Outcome(CallOutcome::Prompt(PromptResult {
        messages: messages.to_string().into_bytes(),
        ..PromptResult::default()
    }))
}

/// Values for an argument.
pub fn values(values: &[&str]) -> Input {
    Input::Outcome(CallOutcome::Completion(CompletionResult {
        values: values.iter().map(|value| (*value).into()).collect(),
        ..CompletionResult::default()
    }))
}

pub fn not_found() -> Input {
    Input::Outcome(CallOutcome::NotFound)
}

/// A failure in the host's own words.
pub fn safe_error(message: &str, data: Option<&str>) -> Input {
    Input::Outcome(CallOutcome::SafeError(SafeError {
        message: message.into(),
        data: data.map(Into::into),
    }))
}

/// A JSON string.
pub fn json_text(text: &str) -> Bytes {
    json!(text).to_string().into()
}
