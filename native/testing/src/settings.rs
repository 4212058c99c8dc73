//! What a test's host offers, and its bounds.

use std::sync::Arc;

use mcp_driver::{CallLimits, SubscriptionLimits};
use mcp_protocol::{
    Access, CacheHints, Catalog, Config, Endpoint, Hosts, Keys, LogLevel, Origins, Rates,
    ScopePolicy, Shared, TaskSupport, ToolDefinition, ToolLimits,
};
use serde_json::json;

/// How long a call may take.
pub const CALL_TIMEOUT_MS: u64 = 30_000;

/// How long a hook may take.
pub const HOOK_TIMEOUT_MS: u64 = 5_000;

/// All that a test may change before its host starts.
pub struct Settings {
    /// The core's settings.
    pub config: Config,
    /// `echo`, `hold`, and `lie`, which breaks its output schema.
    pub tools: Vec<ToolDefinition>,
    /// Room for 1,000 calls.
    pub limits: CallLimits,
    /// Room for 2,000 subscriptions.
    pub subscriptions: SubscriptionLimits,
    /// 1 MiB.
    pub max_buffered_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let lie = ToolDefinition {
            output_schema: Some(json!({"type": "object"})),
            ..tool("lie")
        };
        Self {
            config: config(),
            tools: vec![tool("echo"), tool("hold"), lie],
            limits: CallLimits {
                max_calls: 1_000,
                max_calls_per_principal: 1_000,
            },
            subscriptions: SubscriptionLimits {
                max_subscriptions: 2_000,
                max_subscriptions_per_principal: 2_000,
            },
            max_buffered_bytes: 1 << 20,
        }
    }
}

impl Settings {
    /// What the core reads.
    pub(crate) fn shared(self) -> Shared {
        let catalog = Catalog::compile(self.tools, &self.config);
        Shared {
            catalog: Arc::new(catalog.expect("the definitions are right")),
            config: Arc::new(self.config),
            keys: Arc::new(Keys::derive(&[vec![7; 32]])),
        }
    }
}

/// A tool that may be given a `text`.
pub fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        title: None,
        description: None,
        input_schema: Some(json!({
            "type": "object",
            "properties": {"text": {"type": "string"}},
        })),
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

/// An endpoint for loopback clients that asks nobody for leave.
pub fn endpoint() -> Endpoint {
    Endpoint {
        path: "/mcp".into(),
        allowed_origins: Origins::List(Vec::new()),
        allowed_hosts: Hosts::Loopback,
        hook: 0,
        authorize: false,
        guarded: false,
        authorize_body: false,
        max_body_bytes: 10_000,
        secure: false,
    }
}

fn config() -> Config {
    let server_info = r#"{"name":"test","version":"1"}"#;
    Config {
        server_info: [server_info; 3].map(Into::into),
        instructions: None,
        page_size: 100,
        caller_catalog: false,
        json: mcp_json::Limits::default(),
        schema: mcp_schema::Limits::default(),
        call_timeout_ms: CALL_TIMEOUT_MS,
        stream_after_ms: 5_000,
        request_state_ttl_ms: 900_000,
        shared_sessions: false,
        keeps_tasks: false,
        log_level: LogLevel::Info,
        hook_timeout_ms: HOOK_TIMEOUT_MS,
        max_result_bytes: 20_000_000,
        context_headers: Vec::new(),
        cache: CacheHints::default(),
        allow_public_cache: false,
        completes: false,
        rates: Rates::default(),
        tells_decisions: false,
        scopes: ScopePolicy::default(),
    }
}
