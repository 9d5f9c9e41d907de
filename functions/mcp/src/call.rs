//! Tool calls: their arguments as route parameters, which the route validates, and their results.

use axum::http::HeaderMap;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;
use shared::{
    auth::Charge,
    errors::{ApiError, quote},
    in_process::{InProcessRoutes, RouteResponse},
    pagination::next_page,
    request_context,
};
use tokio::sync::oneshot;

use crate::tools::{DEFAULT_LIMIT, MAX_NUMBERS, NUMBERS, Tool};

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

    /// Calls the tool's route and sends the result to the agent, with an optional note about the data that it came
    /// from.
    pub async fn respond(
        self,
        routes: &InProcessRoutes,
        charge: Charge,
        note: impl FnOnce() -> Option<String>,
    ) {
        let Self { tool, arguments, reply } = self;
        let response = match ToolRequest::new(tool, arguments) {
            Ok(ToolRequest { path, params, numbers }) => {
                let params = params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                routes.call(path, params, numbers, charge).await
            }
            Err(error) => RouteResponse::from_error(error).await,
        };
        if response.status.is_server_error() {
            // In the protocol, a tool error is a success, so the HTTP status hides an outage.
            request_context::record(|context| context.failed_within = Some(response.status));
        }
        let mut result = to_result(tool, &response);
        result.content.extend(note().map(ContentBlock::text));
        // Fails if the agent has canceled the call.
        _ = reply.send(result);
    }

    pub fn fail(self, message: String) {
        _ = self.reply.send(CallToolResult::error(vec![ContentBlock::text(message)]));
    }
}

/// Converts the API's response to a tool result. An API error becomes a tool error, with its body as structured
/// content.
fn to_result(tool: &Tool, response: &RouteResponse) -> CallToolResult {
    let text = String::from_utf8_lossy(&response.body).into_owned();
    let Ok(body) = serde_json::from_str::<Value>(&text) else {
        return CallToolResult::error(vec![ContentBlock::text(text)]);
    };
    if response.status.is_success() {
        let parts = [Some(text), next_page_hint(tool, &response.headers)];
        return CallToolResult::success(
            parts.into_iter().flatten().map(ContentBlock::text).collect(),
        );
    }
    let mut message = body["message"].as_str().unwrap_or(&text).to_owned();
    if tool.name() == "get_carriers" {
        message += ". Use q to find the OCN for a name";
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(message)]);
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

/// Arguments that may be lists. In a query, their values are comma-separated.
const LIST_ARGUMENTS: [&str; 2] = ["include", "fields"];

#[derive(Debug, PartialEq, Eq)]
struct ToolRequest {
    path: &'static str,
    params: Vec<(String, String)>,
    /// The phone numbers as a JSON array, if the tool takes several.
    numbers: Option<String>,
}

impl ToolRequest {
    /// Converts a call's arguments. `null` counts as missing.
    fn new(tool: &Tool, arguments: Option<JsonObject>) -> Result<Self, ApiError> {
        let mut arguments = arguments.unwrap_or_default();
        arguments.retain(|_, value| !value.is_null());
        let route = tool.route_for(&arguments)?;
        let numbers = arguments.shift_remove(NUMBERS).map(numbers_body).transpose()?;
        let params = arguments.into_iter().map(|(name, value)| {
            let text = to_query_value(&name, value)?;
            Ok((name, text))
        });
        let mut params = params.collect::<Result<Vec<_>, ApiError>>()?;
        if route.takes("limit") && !params.iter().any(|(name, _)| name == "limit") {
            params.push(("limit".to_owned(), DEFAULT_LIMIT.to_string()));
        }
        if route.path == "/v1/format" {
            // Images are of no use to a model, and half of the response.
            params.push(("flags".to_owned(), "false".to_owned()));
        }
        Ok(Self { path: route.path, params, numbers })
    }
}

fn numbers_body(numbers: Value) -> Result<String, ApiError> {
    let rule = format!("{NUMBERS} must be a list of 1 to {MAX_NUMBERS} phone numbers");
    let Value::Array(numbers) = numbers else {
        let text = numbers.to_string();
        return Err(ApiError::invalid(format!("{rule}, got '{}'", quote(&text))));
    };
    if !(1..=MAX_NUMBERS).contains(&numbers.len()) {
        return Err(ApiError::invalid(format!("{rule}, got {}", numbers.len())));
    }
    let strings = numbers.into_iter().map(|number| {
        let text = string_or_number(number);
        text.map_err(|other| {
            ApiError::invalid(format!("{NUMBERS} must contain strings, got '{other}'"))
        })
    });
    Ok(Value::from(strings.collect::<Result<Vec<String>, ApiError>>()?).to_string())
}

fn to_query_value(name: &str, value: Value) -> Result<String, ApiError> {
    match value {
        Value::Bool(value) => Ok(value.to_string()),
        Value::Array(items) if LIST_ARGUMENTS.contains(&name) => {
            let values = items.into_iter().map(|item| to_query_value(name, item));
            Ok(values.collect::<Result<Vec<_>, ApiError>>()?.join(","))
        }
        value => string_or_number(value).map_err(|other| {
            ApiError::invalid(format!("{name} must be a string or a number, got '{other}'"))
        }),
    }
}

/// Converts a string or a number to text, since models sometimes send numbers. Any other value is returned quoted.
fn string_or_number(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => {
            Ok(format::digits_of(&number).unwrap_or_else(|| number.to_string()))
        }
        other => Err(quote(&other.to_string()).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The request's path, parameters and numbers as one string, or the error message.
    fn request(tool: &str, arguments: Value) -> String {
        let arguments = arguments.as_object().cloned();
        match ToolRequest::new(Tool::named(tool).unwrap(), arguments) {
            Ok(ToolRequest { path, params, numbers }) => {
                let params = params.into_iter().map(|(name, value)| format!("{name}={value}"));
                [path.to_owned()]
                    .into_iter()
                    .chain(params)
                    .chain(numbers)
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn only_carrier_errors_say_how_to_find_an_ocn() {
        let error = RouteResponse::from_error(ApiError::not_found("No data")).await;
        for (tool, expected) in [
            ("get_carriers", "No data. Use q to find the OCN for a name"),
            ("list_blocks", "No data"),
        ] {
            let result = to_result(Tool::named(tool).unwrap(), &error);
            assert_eq!(result.content[0].as_text().unwrap().text, expected);
            assert_eq!(result.structured_content.unwrap()["error"], "not_found");
        }
    }

    #[test]
    fn arguments_map_to_parameters_and_a_body_or_name_the_invalid_argument() {
        let calls = include_str!("calls.txt").lines().map(|call| {
            let (tool, arguments) = call.split_once(' ').unwrap();
            format!("{call}\n  {}\n", request(tool, serde_json::from_str(arguments).unwrap()))
        });
        let too_many = request("format_number", json!({ "numbers": vec!["1"; 26] }));
        insta::assert_snapshot!(calls.chain([too_many]).collect::<String>());
    }
}
