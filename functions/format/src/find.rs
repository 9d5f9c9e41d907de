//! Finds the phone numbers in a text.

use axum::{
    extract::{Request, State},
    response::Response,
};
use formatting::{Leniency, NumberInText, RulesFailed, find_numbers};
use serde::Serialize;
use serde_json::Value;
use shared::{
    auth::{Charge, KeyKind},
    errors::{ApiError, BodyError},
    flag_images::FlagsBaseUrl,
    http::preferred_media_type,
    params::Params,
    request_context,
    state::App,
};
use utoipa::{IntoParams, ToSchema};

use super::{
    FormatResult,
    describe::Describer,
    options::Options,
    request_body::{BodyLimit, ContentType, decode_text, json_error},
    results::{self, JSON, JSON_LINES},
};

const LIMIT: BodyLimit = BodyLimit { bytes: 100 * 1024, advice: "send the text in parts" };
/// With a result for each number, the response stays below Lambda's 6 MB limit.
const MAX_NUMBERS: usize = 1000;
const JSON_RULE: &str = "The body must be a JSON object with a string named text, and nothing else";

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
struct FindOptions {
    /// Strictness of the search. `valid`: it is a valid number. `possible`: it only has a possible
    /// length. `strict_grouping`: it is valid, and its digits are grouped in a possible way. `exact_grouping`: they are
    /// grouped in the usual way, or not at all.
    #[param(value_type = Option<Leniency>, inline)]
    leniency: Leniency,
}

/// A text to search
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
struct TextToSearch {
    #[schema(example = "Call me at (305) 234-5678 ext. 9, or +44 20 7946 0958.")]
    text: String,
}

/// The numbers found in a text
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
struct FoundNumbers {
    /// In the order of the text.
    results: Vec<FoundNumber>,
}

/// A number found in a text.
#[derive(Serialize, ToSchema)]
struct FoundNumber {
    /// The position of its first character, in Unicode code points from 0.
    #[schema(example = 11)]
    start: usize,
    /// The position after its last character, in Unicode code points.
    #[schema(example = 32)]
    end: usize,
    /// The number as written.
    #[schema(example = "(305) 234-5678 ext. 9")]
    tn: String,
    /// The number's details.
    result: FormatResult,
}

/// Find the phone numbers in a text
///
/// Finds numbers as Google's `PhoneNumberMatcher` does, each with its position and details. Takes up to 100 KB of text
/// with up to 1,000 numbers, each counted as a request; a text without numbers counts as one. The body is the text itself
/// (`text/plain`), or JSON with a `text`.
#[utoipa::path(
    post, path = "/v1/find", operation_id = "findNumbers", tag = "Format",
    params(Options, FindOptions),
    request_body(
        description = "The text",
        content((TextToSearch = "application/json"), (String = "text/plain"))
    ),
    responses(
        (
            status = 200, description = "The numbers found",
            content(
                (FoundNumbers = "application/json"),
                (String = "application/x-ndjson")
            )
        ),
        BodyError
    )
)]
pub async fn find_in_text(
    State(app): State<App>,
    params: Params,
    charge: Charge,
    key: KeyKind,
    flags: FlagsBaseUrl,
    request: Request,
) -> Result<Response, ApiError> {
    let options = Options::parse(&params, request.headers())?;
    let leniency = params.parse_variant("leniency")?.unwrap_or_default();
    let media_type = preferred_media_type(request.headers(), [JSON, JSON_LINES]);
    let text = read_text(request).await?;
    let found = find_numbers(&text, options.default_country, leniency)
        .map_err(|RulesFailed| ApiError::Internal)?;
    if found.len() > MAX_NUMBERS {
        return Err(ApiError::ContentTooLarge(format!(
            "The text must contain at most {MAX_NUMBERS} numbers, got {}; {}",
            found.len(),
            LIMIT.advice
        )));
    }
    charge.raise_to(found.len() as u64).await?;
    request_context::record(|context| context.numbers = Some(found.len()));
    let numbers = found.iter().map(|it| &it.number);
    let describer = Describer::new(&app, key, numbers, &options, &flags).await?;
    let (mut end, mut end_byte) = (0, 0);
    let results = found.into_iter().map(|NumberInText { range, number }| {
        let start = end + text[end_byte..range.start].chars().count();
        let tn = text[range.clone()].to_owned();
        (end, end_byte) = (start + tn.chars().count(), range.end);
        let result = describer.describe(&tn, options.default_country, Some(number));
        FoundNumber { start, end, tn, result }
    });
    let results: Vec<_> = results.collect();
    drop(describer);
    results::response(media_type, results::json(media_type, &results, options.fields))
}

async fn read_text(request: Request) -> Result<String, ApiError> {
    let (parts, body) = request.into_parts();
    let content_type = ContentType::from_headers(&parts.headers)?;
    let is_json = match &*content_type.media_type {
        "application/json" => true,
        "text/plain" => false,
        _ => return Err(content_type.unsupported("application/json or text/plain")),
    };
    let body = LIMIT.read(&parts.headers, body).await?;
    let text = decode_text(&body)?;
    if !is_json {
        return Ok(text.to_owned());
    }
    match serde_json::from_str(text).map_err(|error| json_error(&error))? {
        Value::Object(mut body) if body.len() == 1 => match body.remove("text") {
            Some(Value::String(text)) => Ok(text),
            _ => Err(ApiError::invalid(JSON_RULE)),
        },
        _ => Err(ApiError::invalid(JSON_RULE)),
    }
}
