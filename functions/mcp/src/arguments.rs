//! Converts a tool call's arguments to route parameters. The route validates the values.

use rmcp::model::JsonObject;
use serde_json::Value;
use shared::{
    errors::{ApiError, quote},
    unknown_params,
};

use crate::{
    schema::DEFAULT_LIMIT,
    schema::{MAX_NUMBERS, NUMBERS},
    tools::Tool,
};

/// Arguments that may be lists. In a query, their values are comma-separated.
const LIST_ARGUMENTS: [&str; 2] = ["include", "fields"];

#[derive(Debug, PartialEq, Eq)]
pub struct ToolRequest {
    pub params: Vec<(String, String)>,
    /// The phone numbers as a JSON array, if the tool takes several.
    pub numbers: Option<String>,
}

impl ToolRequest {
    /// Converts a call's arguments. `null` counts as missing.
    pub fn new(tool: &Tool, arguments: Option<JsonObject>) -> Result<Self, ApiError> {
        let mut arguments = arguments.unwrap_or_default();
        arguments.retain(|_, value| !value.is_null());
        let known = tool.known_arguments();
        if let Some(unknown) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(unknown_params::unknown_name("argument", unknown, "tool", &known));
        }
        let is_missing = |name: &&str| *name != NUMBERS && !arguments.contains_key(*name);
        if let Some(missing) = tool.required_arguments().find(is_missing) {
            return Err(ApiError::invalid(format!("{missing} is required")));
        }
        let numbers = if tool.takes_numbers { Some(take_numbers(&mut arguments)?) } else { None };
        let params = arguments.into_iter().map(|(name, value)| {
            let text = to_query_value(&name, value)?;
            Ok((name, text))
        });
        let mut params = params.collect::<Result<Vec<_>, ApiError>>()?;
        if known.contains(&"limit") && !params.iter().any(|(name, _)| name == "limit") {
            params.push(("limit".to_owned(), DEFAULT_LIMIT.to_string()));
        }
        if tool.path == "/v1/format" {
            // Images are of no use to a model, and half of the response.
            params.push(("flags".to_owned(), "false".to_owned()));
        }
        Ok(Self { params, numbers })
    }
}

fn take_numbers(arguments: &mut JsonObject) -> Result<String, ApiError> {
    let rule = format!("{NUMBERS} must be a list of 1 to {MAX_NUMBERS} phone numbers");
    let numbers = match arguments.shift_remove(NUMBERS) {
        Some(Value::Array(numbers)) => numbers,
        Some(other) => {
            return Err(ApiError::invalid(format!("{rule}, got '{}'", quote(&other.to_string()))));
        }
        None => return Err(ApiError::invalid(format!("{NUMBERS} is required: {rule}"))),
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

    /// The request's parameters and body as one string, or the error message.
    fn request(tool: &str, arguments: Value) -> String {
        let arguments = arguments.as_object().cloned();
        match ToolRequest::new(Tool::named(tool).unwrap(), arguments) {
            Ok(ToolRequest { params, numbers }) => {
                let params = params.into_iter().map(|(name, value)| format!("{name}={value}"));
                params.chain(numbers).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.body().message().to_owned(),
        }
    }

    #[test]
    fn arguments_become_parameters_and_a_body_or_errors_that_name_the_argument() {
        let calls = include_str!("calls.txt").lines().map(|call| {
            let (tool, arguments) = call.split_once(' ').unwrap();
            format!("{call}\n  {}\n", request(tool, serde_json::from_str(arguments).unwrap()))
        });
        let too_many = request("format_numbers", json!({ "numbers": vec!["1"; 26] }));
        insta::assert_snapshot!(calls.chain([too_many]).collect::<String>());
    }
}
