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

    fn asked(tool: &str, arguments: Value) -> Result<ToolRequest, String> {
        let arguments = arguments.as_object().cloned();
        ToolRequest::new(Tool::named(tool).unwrap(), arguments)
            .map_err(|error| error.body().message().to_owned())
    }

    fn params(tool: &str, arguments: Value) -> Result<Vec<(String, String)>, String> {
        asked(tool, arguments).map(|asked| asked.params)
    }

    fn single(name: &str, value: &str) -> Result<Vec<(String, String)>, String> {
        Ok(vec![(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn numbers_become_digits_and_null_counts_as_missing() {
        for (number, digits) in [
            (json!(4_155_551_234_u64), "4155551234"),
            (json!(4_155_551_234.0), "4155551234"),
            (json!(1.5), "1.5"),
            (json!("+1 415"), "+1 415"),
        ] {
            let arguments = json!({ "tn": number, "defaultCountry": null });
            assert_eq!(params("format_number", arguments), single("tn", digits));
        }
    }

    #[test]
    fn lists_are_joined_with_commas() {
        for fields in [json!(["valid", "formats.e164"]), json!("valid,formats.e164")] {
            let arguments = json!({ "fields": fields });
            assert_eq!(params("format_number", arguments), single("fields", "valid,formats.e164"));
        }
        let refused = params("format_number", json!({ "fields": [["valid"], {}] })).unwrap_err();
        assert_eq!(refused, "fields must be a text or a number, got '{}'");
    }

    #[test]
    fn lists_have_a_small_page_unless_a_limit_is_given() {
        let named = |limit| vec![("q".to_owned(), "a".to_owned()), ("limit".to_owned(), limit)];
        let of = |arguments| params("search_exchanges", arguments).unwrap();
        assert_eq!(of(json!({ "q": "a" })), named("20".to_owned()));
        assert_eq!(of(json!({ "q": "a", "limit": 3 })), named("3".to_owned()));
    }

    #[test]
    fn unknown_arguments_are_named() {
        assert_eq!(
            params("format_number", json!({ "defaultcountry": "US" })).unwrap_err(),
            "Unknown argument 'defaultcountry'; the nearest known one is 'defaultCountry'"
        );
        assert_eq!(
            params("get_carrier", json!({ "apiKey": "x" })).unwrap_err(),
            "Unknown argument 'apiKey'; this tool knows ocn"
        );
        assert_eq!(
            params("get_carrier", json!({ "ocn": ["a", 1] })).unwrap_err(),
            "ocn must be a text or a number, got '[\"a\",1]'"
        );
    }

    #[test]
    fn numbers_argument_becomes_the_request_body() {
        let arguments = json!({ "numbers": ["+1 305", 3052345678_u64], "defaultCountry": "GB" });
        let params = single("defaultCountry", "GB").unwrap();
        let numbers = Some(r#"["+1 305","3052345678"]"#.to_owned());
        assert_eq!(asked("format_numbers", arguments), Ok(ToolRequest { params, numbers }));
        for (numbers, got) in [
            (json!([]), "got 0"),
            (json!(vec!["1"; 26]), "got 26"),
            (json!("305"), "got '\"305\"'"),
            (Value::Null, "numbers is required"),
            (json!(["1", null]), "numbers must hold texts, got 'null'"),
            (json!([{ "tn": "1" }]), "numbers must hold texts, got '{\"tn\":\"1\"}'"),
            (json!([["1"]]), "numbers must hold texts, got '[\"1\"]'"),
            (json!([true]), "numbers must hold texts, got 'true'"),
        ] {
            let refused = asked("format_numbers", json!({ "numbers": numbers })).unwrap_err();
            assert!(refused.contains(got), "{refused}");
        }
    }
}
