//! MCP agents: the SDK's client, over HTTP or with the program as a child process.

use std::{
    collections::HashMap,
    process::{Command, Stdio},
};

use axum::http::{HeaderValue, header::AUTHORIZATION};
use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::Value;
use tokio::process::Child;

use super::service::http_client;

/// An initialized client.
pub type Agent = RunningService<RoleClient, ()>;

/// An agent that calls the service at `base_url` with `key`.
pub async fn agent_over_http(base_url: &str, key: &str) -> Agent {
    let mut config = StreamableHttpClientTransportConfig::with_uri(format!("{base_url}/mcp"));
    let key = HeaderValue::try_from(format!("Bearer {key}")).unwrap();
    config.custom_headers = HashMap::from([(AUTHORIZATION, key)]);
    let transport = StreamableHttpClientTransport::with_client(http_client(), config);
    ().serve(transport).await.unwrap()
}

/// An agent that talks to a child process, which exits when its stdin closes.
pub async fn agent_over_stdio(command: Command) -> (Agent, Child) {
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    (().serve(streams).await.unwrap(), child)
}

pub async fn call(agent: &Agent, tool: &str, arguments: Value) -> CallToolResult {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    agent.call_tool(params).await.unwrap()
}

pub fn text_parts(result: &CallToolResult) -> Vec<String> {
    let parts = result.content.iter().filter_map(|content| content.as_text());
    parts.map(|part| part.text.clone()).collect()
}

/// Calls to every tool, each with the API request that must return the same result or error.
pub fn calls_with_requests() -> Vec<(&'static str, Value, &'static str)> {
    let lines = include_str!("tool_calls.txt").lines().filter(|line| !line.starts_with('#'));
    let calls = lines.map(|line| {
        let (tool, rest) = line.split_once(' ').unwrap();
        let (arguments, target) = rest.rsplit_once(' ').unwrap();
        (tool, serde_json::from_str(arguments).unwrap(), target)
    });
    calls.collect()
}
