//! The official Rust SDK: axum, stateless, answers as plain JSON.

use std::{env, error::Error, net::Ipv4Addr, sync::LazyLock};

use axum::serve::ListenerExt;
use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    schemars, tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde::Deserialize;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = env::var("PORT")?.parse()?;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let service =
        StreamableHttpService::new(|| Ok(Echo), NeverSessionManager::default().into(), config);
    let app = axum::Router::new().route_service("/mcp", service);
    // Without TCP_NODELAY this server waits 40 ms for acknowledgements.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await?
        .tap_io(|stream| {
            // A client that has gone again is found out by the first read.
            let _ = stream.set_nodelay(true);
        });
    println!("READY {port}");
    Ok(axum::serve(listener, app).await?)
}

struct Echo;

/// Built once: the macro's default builds the table of tools again in each call.
static TOOLS: LazyLock<ToolRouter<Echo>> = LazyLock::new(Echo::tool_router);

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "declared, so that they are decoded as in the other servers"
)]
struct Arguments {
    text: String,
    count: Option<i64>,
    ratio: Option<f64>,
    flag: Option<bool>,
    tags: Option<Vec<String>>,
}

#[tool_router]
impl Echo {
    #[tool(description = "Returns its text")]
    async fn echo(&self, Parameters(arguments): Parameters<Arguments>) -> String {
        arguments.text
    }
}

#[tool_handler(router = TOOLS)]
impl ServerHandler for Echo {}
