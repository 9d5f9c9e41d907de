//! A tool call, and a route's answer to it.

use axum::http::{HeaderMap, header::LINK};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;
use shared::{
    auth::Charge,
    in_process::{Answer, InProcess},
    request_context,
};
use tokio::sync::oneshot;

use crate::{arguments::ToolRequest, tools::Tool};

/// A call awaiting its answer.
#[derive(Debug)]
pub struct ToolCall {
    tool: &'static Tool,
    arguments: Option<JsonObject>,
    reply: oneshot::Sender<CallToolResult>,
}

impl ToolCall {
    /// A call, and the receiver of its answer.
    pub(crate) fn new(
        tool: &'static Tool,
        arguments: Option<JsonObject>,
    ) -> (Self, oneshot::Receiver<CallToolResult>) {
        let (reply, answered) = oneshot::channel();
        (Self { tool, arguments, reply }, answered)
    }

    /// Calls the tool's route and gives the answer to the agent, with a `note` about the data if there is one. Batches
    /// are charged to `charge`.
    pub async fn answer_from(self, routes: &InProcess, charge: Charge, note: Option<&str>) {
        let Self { tool, arguments, reply } = self;
        let answer = match ToolRequest::new(tool, arguments) {
            Ok(ToolRequest { params, numbers }) => {
                let params = params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                match numbers {
                    None => routes.get(tool.path, params).await,
                    Some(numbers) => routes.post(tool.path, params, numbers, charge).await,
                }
            }
            Err(error) => Answer::from_error(error).await,
        };
        if answer.status.is_server_error() {
            // The agent's response is a success in the protocol, so its status hides an outage.
            request_context::record(|context| context.failed_within = Some(answer.status));
        }
        // An agent that cancelled the call does not await an answer.
        let mut result = result_of(tool, &answer);
        result.content.extend(note.map(ContentBlock::text));
        _ = reply.send(result);
    }

    /// Tells the agent why no route can be called.
    pub fn refuse(self, message: String) {
        _ = self.reply.send(CallToolResult::error(vec![ContentBlock::text(message)]));
    }
}

/// The result for an agent: the API's answer unchanged, or its error as a tool error.
fn result_of(tool: &Tool, answer: &Answer) -> CallToolResult {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let Ok(body) = serde_json::from_str::<Value>(&text) else {
        return CallToolResult::error(vec![ContentBlock::text(text)]);
    };
    if !answer.status.is_success() {
        let message = body["message"].as_str().unwrap_or(&text).to_owned();
        return with_structure(CallToolResult::error(vec![ContentBlock::text(message)]), body);
    }
    let hint = hint_at_next_page(tool, &answer.headers);
    let content = [Some(text), hint].into_iter().flatten().map(ContentBlock::text).collect();
    with_structure(CallToolResult::success(content), body)
}

fn with_structure(mut result: CallToolResult, body: Value) -> CallToolResult {
    result.structured_content = Some(body);
    result
}

/// The hint at the next page in the `Link` header; `None` on the last page.
fn hint_at_next_page(tool: &Tool, headers: &HeaderMap) -> Option<String> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links.split(", ").find(|link| link.ends_with("rel=\"next\""))?;
    let (_, query) = next.trim_start_matches('<').split_once('>')?.0.split_once('?')?;
    let value_of = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let offset = value_of("offset")?;
    let version = value_of("version").map(|version| format!(" and version {version}"));
    let version = version.unwrap_or_default();
    let name = tool.name;
    Some(format!("There is more: call {name} with the same arguments, offset {offset}{version}"))
}
