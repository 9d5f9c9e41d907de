//! The arguments of a call as parameters of a route. The route itself judges the values.

use rmcp::model::JsonObject;
use serde_json::{Number, Value};
use shared::{errors::ApiError, params::quote, unknown_params};

use crate::tools::Tool;

/// The page size of a call that names none: what a list answers is read by a model, which seldom needs
/// as much as a program.
pub const DEFAULT_LIMIT: &str = "20";

/// The greatest whole number up to which a float has all of them.
const LARGEST_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The parameters of the route that the tool asks. `null` counts as absent.
///
/// # Errors
/// Returns [`ApiError::InvalidRequest`] if the tool does not take an argument, or the value of one is a
/// list or an object.
pub fn params_of(
    tool: &Tool,
    arguments: Option<JsonObject>,
) -> Result<Vec<(String, String)>, ApiError> {
    let given = arguments.into_iter().flatten().filter(|(_, value)| !value.is_null());
    let mut params = given
        .map(|(name, value)| {
            if !tool.arguments.contains(&name.as_str()) {
                return Err(unknown_params::refusal("argument", &name, "tool", tool.arguments));
            }
            let text = text_of(&name, value)?;
            Ok((name, text))
        })
        .collect::<Result<Vec<_>, ApiError>>()?;
    let is_list = tool.arguments.contains(&"limit");
    if is_list && !params.iter().any(|(name, _)| name == "limit") {
        params.push(("limit".to_owned(), DEFAULT_LIMIT.to_owned()));
    }
    Ok(params)
}

/// A value as it stands in a query. Models write codes and phone numbers as numbers now and then.
fn text_of(name: &str, value: Value) -> Result<String, ApiError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(text_of_number(&number)),
        Value::Bool(value) => Ok(value.to_string()),
        other => {
            let text = other.to_string();
            let message = format!("{name} must be a text or a number, got '{}'", quote(&text));
            Err(ApiError::invalid(message))
        }
    }
}

/// `4155551234.0` is the whole number that it equals, without a point that a phone number may have.
fn text_of_number(number: &Number) -> String {
    match number.as_f64() {
        Some(value)
            if number.is_f64() && value.fract() == 0.0 && value.abs() < LARGEST_EXACT_FLOAT =>
        {
            format!("{value:.0}")
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(tool: &str, arguments: Value) -> Result<Vec<(String, String)>, String> {
        let arguments = arguments.as_object().cloned();
        params_of(Tool::named(tool).unwrap(), arguments).map_err(|error| match error {
            ApiError::InvalidRequest(message) => message,
            other => panic!("{other:?}"),
        })
    }

    fn single(name: &str, value: &str) -> Result<Vec<(String, String)>, String> {
        Ok(vec![(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn numbers_are_taken_as_the_digits_that_they_have() {
        for (number, digits) in [
            (json!(4_155_551_234_u64), "4155551234"),
            (json!(4_155_551_234.0), "4155551234"),
            (json!(1.5), "1.5"),
            (json!("+1 415"), "+1 415"),
        ] {
            assert_eq!(params("format_number", json!({ "tn": number })), single("tn", digits));
        }
    }

    #[test]
    fn null_counts_as_absent() {
        let arguments = json!({ "tn": "1", "defaultCountry": null });
        assert_eq!(params("format_number", arguments), single("tn", "1"));
    }

    #[test]
    fn a_list_has_a_small_page_unless_another_is_asked_for() {
        let named = |limit| vec![("q".to_owned(), "a".to_owned()), ("limit".to_owned(), limit)];
        let of = |arguments| params("search_exchanges", arguments).unwrap();
        assert_eq!(of(json!({ "q": "a" })), named("20".to_owned()));
        assert_eq!(of(json!({ "q": "a", "limit": 3 })), named("3".to_owned()));
    }

    #[test]
    fn what_a_tool_does_not_take_is_named() {
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
}
