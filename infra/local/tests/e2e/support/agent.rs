//! Agents: the SDK's own client, over HTTP or with the program as its child.

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
use serde_json::{Value, json};
use tokio::process::Child;

use super::service::http_client;

/// A client that has been introduced to a server.
pub type Agent = RunningService<RoleClient, ()>;

/// An agent that sends a key to the service at an address.
pub async fn agent_over_http(base_url: &str, key: &str) -> Agent {
    try_agent_over_http(base_url, key).await.unwrap()
}

/// The same, or why the service does not take it.
pub async fn try_agent_over_http(base_url: &str, key: &str) -> Result<Agent, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(format!("{base_url}/mcp"));
    let key = HeaderValue::try_from(format!("Bearer {key}")).unwrap();
    config.custom_headers = HashMap::from([(AUTHORIZATION, key)]);
    let transport = StreamableHttpClientTransport::with_client(http_client(), config);
    ().serve(transport).await.map_err(|error| error.to_string())
}

/// An agent with a program as its child, which ends with its input.
pub async fn agent_with(command: Command) -> (Agent, Child) {
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    (().serve(streams).await.unwrap(), child)
}

/// The result of a call of a tool with these arguments.
pub async fn call(agent: &Agent, tool: &str, arguments: Value) -> CallToolResult {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    agent.call_tool(params).await.unwrap()
}

/// The texts of a result.
pub fn texts(result: &CallToolResult) -> Vec<String> {
    let texts = result.content.iter().filter_map(|content| content.as_text());
    texts.map(|content| content.text.clone()).collect()
}

/// Calls of every tool, each with the request of the API whose answer is to be the same.
pub fn calls_with_requests() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("format_number", json!({ "tn": "(305) 234-5678" }), "/v1/format?tn=(305)%20234-5678"),
        (
            "format_number",
            json!({ "tn": "020 7946 0958", "defaultCountry": "GB" }),
            "/v1/format?tn=020%207946%200958&defaultCountry=GB",
        ),
        ("format_number", json!({ "tn": "+1 305 234 5678" }), "/v1/format/+1%20305%20234%205678"),
        ("format_number", json!({ "tn": 3052345678_u64 }), "/v1/format/3052345678"),
        ("format_number", json!({ "tn": "hello" }), "/v1/format/hello"),
        (
            "format_number",
            json!({ "tn": "305 234", "include": ["reason"] }),
            "/v1/format/305%20234?include=reason",
        ),
        (
            "format_number",
            json!({ "tn": "305 234 5678", "fields": ["valid", "carrier.name"] }),
            "/v1/format/305%20234%205678?fields=valid,carrier.name",
        ),
        ("lookup_block", json!({ "tn": "2122345678" }), "/v1/lookup/2122345678"),
        (
            "lookup_block",
            json!({ "tn": "2122345678", "fields": "status" }),
            "/v1/lookup/2122345678?fields=status",
        ),
        ("get_area_code", json!({ "npa": "415" }), "/v1/npa/415?limit=20"),
        (
            "get_area_code",
            json!({ "npa": 415, "limit": 3, "offset": 2 }),
            "/v1/npa/415?limit=3&offset=2",
        ),
        (
            "get_area_code",
            json!({ "npa": "212", "nxx": "234" }),
            "/v1/npa?npa=212&nxx=234&limit=20",
        ),
        ("get_carrier", json!({ "ocn": "6015" }), "/v1/carrier/6015"),
        (
            "list_carriers",
            json!({ "country": "CA", "limit": 5 }),
            "/v1/carriers?country=CA&limit=5",
        ),
        (
            "search_exchanges",
            json!({ "q": "sample wire", "state": "NY" }),
            "/v1/search?q=sample%20wire&state=NY&limit=20",
        ),
        (
            "search_exchanges",
            json!({ "rate_center": "no such place" }),
            "/v1/search?rate_center=no%20such%20place&limit=20",
        ),
    ]
}

/// Calls that a tool refuses, each with the request of the API whose error is to be the same.
pub fn refused_calls_with_requests() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("format_number", json!({}), "/v1/format"),
        (
            "format_number",
            json!({ "tn": "1", "defaultCountry": "UK" }),
            "/v1/format/1?defaultCountry=UK",
        ),
        (
            "format_number",
            json!({ "tn": "1", "include": ["reason", "porting"] }),
            "/v1/format/1?include=reason,porting",
        ),
        ("lookup_block", json!({ "tn": "212234" }), "/v1/lookup/212234"),
        ("lookup_block", json!({ "tn": "4151111234" }), "/v1/lookup/4151111234"),
        ("get_area_code", json!({ "npa": "1" }), "/v1/npa/1"),
        ("get_area_code", json!({ "npa": "415", "limit": 0 }), "/v1/npa/415?limit=0"),
        ("get_carrier", json!({ "ocn": "0000" }), "/v1/carrier/0000"),
        ("list_carriers", json!({ "type": "nothing" }), "/v1/carriers?type=nothing"),
        ("search_exchanges", json!({}), "/v1/search"),
        ("search_exchanges", json!({ "version": "x", "q": "a" }), "/v1/search?q=a&version=x"),
    ]
}
