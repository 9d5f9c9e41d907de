//! A call's arguments as parameters of a route, which validates the values.

use rmcp::model::JsonObject;
use serde_json::{Number, Value};
use shared::{
    errors::{ApiError, quote},
    unknown_params,
};

use crate::{
    schema::{DEFAULT_LIMIT, known_arguments},
    tools::{MAX_NUMBERS, NUMBERS, Tool},
};

/// Arguments with lists as values. In a query they are comma-separated.
const LISTS: [&str; 2] = ["include", "fields"];

/// A tool call's request to its route.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolRequest {
    pub params: Vec<(String, String)>,
    /// The numbers as a JSON array, if the tool takes several.
    pub numbers: Option<String>,
}

impl ToolRequest {
    /// The request for a call with these arguments. `null` counts as missing.
    pub fn new(tool: &Tool, arguments: Option<JsonObject>) -> Result<Self, ApiError> {
        let mut arguments = arguments.unwrap_or_default();
        arguments.retain(|_, value| !value.is_null());
        let known = known_arguments(tool);
        if let Some(unknown) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(unknown_params::refusal("argument", unknown, "tool", &known));
        }
        let numbers = if tool.takes_numbers { Some(numbers_in(&mut arguments)?) } else { None };
        let texts = arguments.into_iter().map(|(name, value)| {
            let text = text_of(&name, value)?;
            Ok((name, text))
        });
        let mut params = texts.collect::<Result<Vec<_>, ApiError>>()?;
        if known.contains(&"limit") && !params.iter().any(|(name, _)| name == "limit") {
            params.push(("limit".to_owned(), DEFAULT_LIMIT.to_string()));
        }
        Ok(Self { params, numbers })
    }
}

/// Removes the numbers from the arguments.
fn numbers_in(arguments: &mut JsonObject) -> Result<String, ApiError> {
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
    let as_texts = numbers.into_iter().map(|number| match number {
        Value::String(text) => Ok(Value::String(text)),
        Value::Number(number) => Ok(Value::String(text_of_number(&number))),
        other => {
            let text = other.to_string();
            let message = format!("{NUMBERS} must hold texts, got '{}'", quote(&text));
            Err(ApiError::invalid(message))
        }
    });
    Ok(as_texts.collect::<Result<Value, ApiError>>()?.to_string())
}

/// A value as query text. Models sometimes send codes and phone numbers as JSON numbers.
fn text_of(name: &str, value: Value) -> Result<String, ApiError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(text_of_number(&number)),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Array(items) if LISTS.contains(&name) => {
            let texts = items.into_iter().map(|item| text_of(name, item));
            Ok(texts.collect::<Result<Vec<_>, ApiError>>()?.join(","))
        }
        other => {
            let text = other.to_string();
            let message = format!("{name} must be a text or a number, got '{}'", quote(&text));
            Err(ApiError::invalid(message))
        }
    }
}

/// An integer as digits; any other number as it is.
fn text_of_number(number: &Number) -> String {
    format::digits_of(number).unwrap_or_else(|| number.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The request's parameters and body in one text, or the refusal's message.
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
    fn arguments_become_parameters_or_name_what_is_wrong() {
        for (tool, arguments, expected) in [
            ("format_number", json!({ "tn": 4_155_551_234_u64 }), "tn=4155551234"),
            ("format_number", json!({ "tn": 4_155_551_234.0 }), "tn=4155551234"),
            ("format_number", json!({ "tn": 1.5, "defaultCountry": null }), "tn=1.5"),
            ("format_number", json!({ "fields": ["valid", "carrier"] }), "fields=valid,carrier"),
            ("format_number", json!({ "fields": "valid,carrier" }), "fields=valid,carrier"),
            (
                "format_number",
                json!({ "fields": [["valid"], {}] }),
                "fields must be a text or a number, got '{}'",
            ),
            (
                "format_number",
                json!({ "defaultcountry": "US" }),
                "Unknown argument 'defaultcountry'; the nearest known one is 'defaultCountry'",
            ),
            (
                "get_carrier",
                json!({ "apiKey": "x" }),
                "Unknown argument 'apiKey'; this tool knows ocn",
            ),
            (
                "get_carrier",
                json!({ "ocn": ["a", 1] }),
                "ocn must be a text or a number, got '[\"a\",1]'",
            ),
            ("search_exchanges", json!({ "q": "a" }), "q=a limit=20"),
            ("search_exchanges", json!({ "q": "a", "limit": 3 }), "q=a limit=3"),
        ] {
            assert_eq!(request(tool, arguments), expected);
        }
    }

    #[test]
    fn numbers_argument_becomes_the_request_body() {
        let arguments = json!({ "numbers": ["+1 305", 3052345678_u64], "defaultCountry": "GB" });
        let expected = r#"defaultCountry=GB ["+1 305","3052345678"]"#;
        assert_eq!(request("format_numbers", arguments), expected);
        for (numbers, got) in [
            (json!([]), "got 0"),
            (json!(vec!["1"; 26]), "got 26"),
            (json!("305"), "got '\"305\"'"),
            (Value::Null, "numbers is required"),
            (json!(["1", null]), "numbers must hold texts, got 'null'"),
            (json!([{ "tn": "1" }]), "numbers must hold texts, got '{\"tn\":\"1\"}'"),
        ] {
            let refused = request("format_numbers", json!({ "numbers": numbers }));
            assert!(refused.contains(got), "{refused}");
        }
    }
}
