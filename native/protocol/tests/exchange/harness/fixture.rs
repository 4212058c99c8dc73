//! What the tests serve: one configuration, one endpoint, a handful of tools, and results of handlers.

use std::sync::Arc;

use mcp_protocol::{
    Access, CacheHints, CallOutcome, Config, Definition, Endpoint, Hosts, Input, Limit, LogLevel,
    Origins, Principal, Rates, Revision, ScopePolicy, Session, TaskSupport, ToolDefinition,
    ToolLimits, ToolResult, Uris,
};
use serde_json::{Value, json};

/// A limit that was reached.
pub const MAX_CALLS: Limit = Limit {
    option: "max_calls",
    allowed: 7,
};

/// Small limits, so that tests reach them.
pub fn config() -> Config {
    let server_info = r#"{"name":"ExampleServer","version":"1.0.0"}"#;
    Config {
        server_info: [server_info; 3].map(Into::into),
        instructions: None,
        page_size: 100,
        caller_catalog: false,
        json: mcp_json::Limits::default(),
        schema: mcp_schema::Limits::default(),
        call_timeout_ms: 30_000,
        stream_after_ms: 5_000,
        request_state_ttl_ms: 900_000,
        shared_sessions: false,
        keeps_tasks: false,
        log_level: LogLevel::Info,
        hook_timeout_ms: 5_000,
        max_result_bytes: 2_000_000,
        context_headers: Vec::new(),
        cache: CacheHints::default(),
        allow_public_cache: false,
        completes: false,
        rates: Rates::default(),
        tells_decisions: false,
        scopes: ScopePolicy::default(),
    }
}

/// A loopback endpoint that asks nobody for leave.
pub fn endpoint() -> Endpoint {
    Endpoint {
        path: "/mcp".into(),
        allowed_origins: Origins::List(vec!["https://app.example".into()]),
        allowed_hosts: Hosts::Loopback,
        hook: 0,
        authorize: false,
        guarded: false,
        authorize_body: false,
        max_body_bytes: 1 << 20,
        secure: false,
    }
}

/// A tool with a name and, perhaps, an input schema.
pub fn definition(name: &str, input_schema: Option<Value>) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        title: None,
        description: Some(format!("The tool {name}")),
        input_schema,
        output_schema: None,
        annotations: None,
        icons: None,
        meta: None,
        limits: ToolLimits::default(),
        task_support: TaskSupport::Forbidden,
        access: Access::default(),
        handler: Arc::new(()),
    }
}

/// `echo` takes a text, `sum` returns a number under a schema, `users` an array under one, `route` mirrors two
/// arguments into headers, `now` takes nothing.
pub fn tools() -> Vec<ToolDefinition> {
    let integer = json!({"type": "integer"});
    vec![
        definition(
            "echo",
            Some(object(&json!({"text": {"type": "string"}}), &["text"])),
        ),
        ToolDefinition {
            output_schema: Some(object(&json!({"sum": integer}), &["sum"])),
            ..definition(
                "sum",
                Some(object(&json!({"a": integer, "b": integer}), &["a", "b"])),
            )
        },
        ToolDefinition {
            output_schema: Some(json!({"type": "array", "items": {"type": "string"}})),
            ..definition("users", Some(json!({"type": "object"})))
        },
        definition("route", Some(object(&routed(), &["region"]))),
        definition("now", None),
    ]
}

/// No definitions at all.
pub fn nothing() -> Vec<Definition> {
    Vec::new()
}

/// A result with one text item.
pub fn text(text: &str) -> Input {
    Input::Outcome(CallOutcome::Tool(ToolResult {
        content: text_items(text),
        ..ToolResult::default()
    }))
}

/// A result with structured content, and its JSON as text.
pub fn structured(value: &Value) -> Input {
    Input::Outcome(CallOutcome::Tool(ToolResult {
        content: text_items(&value.to_string()),
        structured: Some(value.to_string().into_bytes()),
        ..ToolResult::default()
    }))
}

/// A session of 2025-11-25 that `owner` opened.
pub fn session(owner: Option<Principal>) -> Session {
    Session {
        revision: Revision::R20251125,
        client_info: r#"{"name":"client","version":"1"}"#.into(),
        client_capabilities: "{}".into(),
        principal: owner,
        log_level: None,
        subscriptions: Uris::default(),
    }
}

fn text_items(text: &str) -> Vec<u8> {
    json!([{"type": "text", "text": text}])
        .to_string()
        .into_bytes()
}

fn routed() -> Value {
    json!({
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "x-mcp-header": "Limit"},
    })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}
