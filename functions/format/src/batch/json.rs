//! Numbers in a JSON array: strings, or objects with a string and options.

use formatting::DefaultCountry;
use serde_json::{Map, Number, Value, value::RawValue};
use shared::{
    errors::{ApiError, quote},
    params::invalid_param,
};
use utoipa::ToSchema;

use super::{RequestedNumber, check_count, empty_number_error};
use crate::{bodies::json_error, options::parse_country};

/// A phone number with its country and ID.
// For the schema only: an invalid item must not fail the others.
#[derive(ToSchema)]
#[schema(as = NumberWithOptions)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
pub struct NumberWithOptions {
    /// Phone number in any format.
    #[schema(min_length = 1, example = "020 7946 0958")]
    tn: String,
    /// Country for a number without a country code; overrides the request's `defaultCountry`.
    #[schema(rename = "defaultCountry", nullable = false)]
    default_country: Option<DefaultCountry>,
    /// The client's ID for the number, repeated in the response.
    #[schema(nullable = false, max_length = 100, example = "row-7")]
    id: Option<String>,
}

/// Phone numbers to format; results are in the same order
#[derive(ToSchema)]
#[schema(min_items = 1, max_items = 1000)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
pub struct NumbersToFormat(#[schema(inline)] Vec<NumberToFormat>);

/// A phone number in any format, or an object with one
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
enum NumberToFormat {
    Text(#[schema(inline)] NumberText),
    Object(NumberWithOptions),
}

#[derive(ToSchema)]
#[schema(min_length = 1)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
struct NumberText(String);

const FIELDS: [&str; 3] = ["tn", "defaultCountry", "id"];
const MAX_ID_LENGTH: usize = 100;

/// The largest integer up to which floats are exact.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The digits of a phone number sent as a JSON number; `None` if it is not a whole number. Some programs write
/// `4155551234.0`.
pub fn digits_of(number: &Number) -> Option<String> {
    if let Some(whole) = number.as_u64() {
        return Some(whole.to_string());
    }
    let float = number.as_f64()?;
    let is_whole = float.fract() == 0.0 && (0.0..MAX_EXACT_FLOAT).contains(&float);
    is_whole.then(|| format!("{float:.0}"))
}

/// Parses a JSON array. Each item is parsed separately, so that an invalid one does not fail the others.
pub fn parse_array(text: &str) -> Result<Vec<RequestedNumber>, ApiError> {
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(items) => {
            check_count(items.len())?;
            Ok(items.into_iter().map(parse_item).collect())
        }
        Err(error) if error.is_data() => {
            let other = serde_json::from_str(text).map_err(|error| json_error(&error))?;
            Err(ApiError::invalid(format!(
                "The body must be an array of phone numbers, got {}",
                describe(&other)
            )))
        }
        Err(error) => Err(json_error(&error)),
    }
}

/// Parses an item. It may still be invalid, such as `"\ud800"`, an unpaired surrogate.
fn parse_item(item: &RawValue) -> RequestedNumber {
    let invalid =
        |tn, message| RequestedNumber { id: None, tn, content: Err(ApiError::invalid(message)) };
    match serde_json::from_str(item.get()).map(json_number_to_text) {
        Ok(Value::String(tn)) => RequestedNumber::from_text(tn),
        Ok(Value::Object(fields)) => parse_object(fields),
        Ok(other) => {
            let rule = "A number must be a string, or an object with tn";
            invalid(to_text(&other), format!("{rule}, got {}", describe(&other)))
        }
        Err(error) => {
            invalid(item.get().to_owned(), format!("The item is not valid JSON: {error}"))
        }
    }
}

/// Converts a phone number given as a JSON number to text; other values are unchanged.
fn json_number_to_text(value: Value) -> Value {
    match &value {
        Value::Number(number) => digits_of(number).map_or(value, Value::String),
        _ => value,
    }
}

fn parse_object(mut fields: Map<String, Value>) -> RequestedNumber {
    if let Some(tn) = fields.get_mut("tn") {
        *tn = json_number_to_text(tn.take());
    }
    let fields = &fields;
    let tn = fields.get("tn").map(to_text).unwrap_or_default();
    match parse_id(fields) {
        Ok(id) => RequestedNumber { id, tn, content: parse_own_country(fields) },
        Err(error) => RequestedNumber { id: None, tn, content: Err(error) },
    }
}

fn parse_id(fields: &Map<String, Value>) -> Result<Option<String>, ApiError> {
    let Some(id) = optional_text(fields, "id")? else { return Ok(None) };
    if id.chars().count() > MAX_ID_LENGTH {
        let rule = format!("must have at most {MAX_ID_LENGTH} characters");
        return Err(invalid_param("id", id, rule));
    }
    Ok(Some(id.to_owned()))
}

fn parse_own_country(fields: &Map<String, Value>) -> Result<Option<DefaultCountry>, ApiError> {
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(ApiError::invalid(format!(
            "Unknown field '{}'; the fields are {}",
            quote(unknown),
            FIELDS.join(", ")
        )));
    }
    match optional_text(fields, "tn")? {
        None => return Err(ApiError::invalid("tn is required")),
        Some("") => return Err(empty_number_error()),
        Some(_) => (),
    }
    // As in a query, an empty value counts as missing.
    let country = optional_text(fields, "defaultCountry")?.filter(|text| !text.is_empty());
    country.map(parse_country).transpose()
}

/// The string in a field; `None` if it is missing or `null`.
fn optional_text<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, ApiError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(ApiError::invalid(format!("{name} must be a string, got {}", describe(other))))
        }
    }
}

/// Converts a value to the text that the response shows.
fn to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string '{}'", quote(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
