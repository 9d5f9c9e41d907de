//! Tests MCP over HTTP, which offers the API as tools for agents. The session `mcp` covers stdin and stdout.

use std::collections::{BTreeSet, HashMap};

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

use crate::support::service::{KEY, http_client, shared_service};

/// A client from the MCP SDK.
type McpClient = RunningService<RoleClient, ()>;

/// An agent that calls the shared service.
async fn connect() -> McpClient {
    let url = format!("{}/mcp", shared_service().base_url);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    let key = HeaderValue::try_from(format!("Bearer {KEY}")).unwrap();
    config.custom_headers = HashMap::from([(AUTHORIZATION, key)]);
    let transport = StreamableHttpClientTransport::with_client(http_client(), config);
    ().serve(transport).await.unwrap()
}

async fn call(agent: &McpClient, tool: &str, arguments: Value) -> CallToolResult {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = arguments.as_object().cloned();
    agent.call_tool(params).await.unwrap()
}

fn text_parts(result: &CallToolResult) -> Vec<String> {
    let parts = result.content.iter().filter_map(|content| content.as_text());
    parts.map(|part| part.text.clone()).collect()
}

/// Calls to every tool, each with the API request that must return the same result or error.
fn calls_with_requests() -> Vec<(&'static str, Value, &'static str)> {
    let lines = include_str!("tool_calls.txt").lines().filter(|line| !line.starts_with('#'));
    let calls = lines.map(|line| {
        let (tool, rest) = line.split_once(' ').unwrap();
        let (arguments, target) = rest.rsplit_once(' ').unwrap();
        (tool, serde_json::from_str(arguments).unwrap(), target)
    });
    calls.collect()
}

#[tokio::test]
async fn every_tool_returns_the_same_results_and_errors_as_the_api() {
    let (service, agent) = (shared_service(), connect().await);
    let calls = calls_with_requests();
    let called: BTreeSet<_> = calls.iter().map(|&(tool, ..)| tool.to_owned()).collect();
    let tools = agent.list_all_tools().await.unwrap();
    assert_eq!(called, tools.into_iter().map(|tool| tool.name.into_owned()).collect());
    for (tool, arguments, target) in calls {
        let result = call(&agent, tool, arguments).await;
        let response = service.get(target).await;
        let is_error = !response.status().is_success();
        let from_api = response.text().await.unwrap();
        let body: Value = serde_json::from_str(&from_api).unwrap();
        let text = text_parts(&result).swap_remove(0);
        match body["message"].as_str().filter(|_| is_error) {
            // A hint for the agent may follow.
            Some(message) => assert!(text.starts_with(message), "{tool} {target}: {text}"),
            None => assert_eq!(text, from_api, "{tool} {target}"),
        }
        assert_eq!(result.is_error, Some(is_error), "{tool} {target}");
        assert_eq!(result.structured_content, is_error.then_some(body), "{tool} {target}");
    }

    let numbers = json!(["(305) 234-5678", "020 7946 0958", ""]);
    let arguments = json!({ "numbers": numbers, "defaultCountry": "GB" });
    let result = call(&agent, "format_number", arguments).await;
    let target = "/v1/format?defaultCountry=GB&flags=false";
    let request = service.post(target, "application/json", numbers.to_string());
    let from_api = request.send().await.unwrap().text().await.unwrap();
    let [text, note] = &*text_parts(&result) else { panic!("{result:?}") };
    assert_eq!((text, result.is_error), (&from_api, Some(false)));
    assert!(note.contains("made-up sample"), "{note}");
}

#[tokio::test]
async fn pages_are_small_and_their_hints_lead_to_every_record() {
    let agent = connect().await;
    let mut arguments = json!({ "npa": "415" });
    let (mut seen, mut pages) = (BTreeSet::new(), 0);
    loop {
        let result = call(&agent, "search_exchanges", arguments.clone()).await;
        let parts = text_parts(&result);
        let body: Value = serde_json::from_str(&parts[0]).unwrap();
        let rows = body["results"].as_array().unwrap();
        assert!(rows.len() <= 20);
        seen.extend(rows.iter().map(|row| row["nxx"].as_str().unwrap().to_owned()));
        pages += 1;
        // The last part is a note that the data is made up.
        let [_, hint, _] = &*parts else {
            assert_eq!(seen.len() as u64, body["pagination"]["total"].as_u64().unwrap());
            break;
        };
        let words: Vec<&str> = hint.split(' ').collect();
        let after = |word: &str| words[1 + words.iter().position(|it| *it == word).unwrap()];
        arguments["offset"] = after("offset").into();
        arguments["version"] = after("version").into();
    }
    assert!(pages > 1, "{pages}");
}
