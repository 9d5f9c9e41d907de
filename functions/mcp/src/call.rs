//! Tool calls and their results.

use axum::http::HeaderMap;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;
use shared::{
    auth::Charge,
    in_process::{InProcess, RouteResponse},
    pagination::next_page,
    request_context,
};
use tokio::sync::oneshot;

use crate::{arguments::ToolRequest, tools::Tool};

#[derive(Debug)]
pub struct ToolCall {
    tool: &'static Tool,
    arguments: Option<JsonObject>,
    reply: oneshot::Sender<CallToolResult>,
}

impl ToolCall {
    pub(crate) fn new(
        tool: &'static Tool,
        arguments: Option<JsonObject>,
    ) -> (Self, oneshot::Receiver<CallToolResult>) {
        let (reply, result) = oneshot::channel();
        (Self { tool, arguments, reply }, result)
    }

    /// Calls the tool's route and sends the result to the agent, with an optional `note` about the data.
    pub async fn respond(self, routes: &InProcess, charge: Charge, note: Option<&str>) {
        let Self { tool, arguments, reply } = self;
        let response = match ToolRequest::new(tool, arguments) {
            Ok(ToolRequest { params, numbers }) => {
                let params = params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                match numbers {
                    None => routes.get(tool.path, params, charge).await,
                    Some(numbers) => routes.post(tool.path, params, numbers, charge).await,
                }
            }
            Err(error) => RouteResponse::from_error(error).await,
        };
        if response.status.is_server_error() {
            // In the protocol, a tool error is a success, so the HTTP status hides an outage.
            request_context::record(|context| context.failed_within = Some(response.status));
        }
        let mut result = to_result(tool, &response);
        result.content.extend(note.map(ContentBlock::text));
        // Fails if the agent has canceled the call.
        _ = reply.send(result);
    }

    pub fn fail(self, message: String) {
        _ = self.reply.send(CallToolResult::error(vec![ContentBlock::text(message)]));
    }
}

/// Converts the API's response to a tool result. An API error becomes a tool error.
fn to_result(tool: &Tool, response: &RouteResponse) -> CallToolResult {
    let text = String::from_utf8_lossy(&response.body).into_owned();
    let Ok(body) = serde_json::from_str::<Value>(&text) else {
        return CallToolResult::error(vec![ContentBlock::text(text)]);
    };
    let mut result = if response.status.is_success() {
        let parts = [Some(text), next_page_hint(tool, &response.headers)];
        CallToolResult::success(parts.into_iter().flatten().map(ContentBlock::text).collect())
    } else {
        let mut message = body["message"].as_str().unwrap_or(&text).to_owned();
        if tool.name() == "get_carrier" {
            message += ". Use list_carriers with q to find the OCN for a name";
        }
        CallToolResult::error(vec![ContentBlock::text(message)])
    };
    result.structured_content = Some(body);
    result
}

/// Returns a hint about the next page, from the `Link` header; `None` on the last page.
fn next_page_hint(tool: &Tool, headers: &HeaderMap) -> Option<String> {
    let next = next_page(headers)?;
    let value = |name: &str| {
        let mut pairs = form_urlencoded::parse(next.query()?.as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let offset = value("offset")?;
    let version = value("version").map(|version| format!(" and version {version}"));
    let version = version.unwrap_or_default();
    let name = tool.name();
    Some(format!("There is more: call {name} with the same arguments, offset {offset}{version}"))
}
