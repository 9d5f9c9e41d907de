//! Finds phone numbers in text.

use std::borrow::Cow;

use axum::{
    extract::{Request, State},
    http::HeaderMap,
    response::Response,
};
use formatting::{Leniency, NumberInText, RulesError, find_numbers};
use serde::Serialize;
use serde_json::Value;
use shared::{
    auth::{Charge, KeyKind},
    body::BodyLimit,
    errors::{ApiError, BodyError},
    http::preferred_media_type,
    params::Params,
    request_context,
    state::App,
};
use utoipa::{IntoParams, ToSchema};

use super::{
    FormatResult,
    assemble::Describer,
    bodies::{
        BYTES_PER_REQUEST, ContentType, JSON, JSON_LINES, decode_text, json_error, results_response,
    },
    fields::WithFields,
    options::Options,
};

const LIMIT: BodyLimit = BodyLimit {
    bytes: 100 * 1024,
    bytes_per_request: BYTES_PER_REQUEST,
    advice: "send the text in parts",
};
/// Keeps a response with one result per number below Lambda's 6 MB limit.
const MAX_NUMBERS: usize = 1000;
/// The number of digits in text that count as one request, rounded up, even outside of numbers. Digits that only look
/// like numbers can cost this much to search.
const DIGITS_PER_REQUEST: usize = 100;
/// The numbers to search for before they are charged, unless the charge for the digits covers more.
const FIRST_NUMBERS: usize = 8;
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

/// Text to search
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
struct TextToSearch {
    #[schema(example = "Call me at (305) 234-5678 ext. 9, or +44 20 7946 0958.")]
    text: String,
}

/// The numbers found in text
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
struct FoundNumbers {
    /// In the order they appear in the text.
    results: Vec<FoundNumber<'static>>,
}

/// A number found in text.
#[derive(Serialize, ToSchema)]
#[schema(as = FoundNumber)]
struct FoundNumber<'a> {
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
    #[schema(value_type = FormatResult)]
    result: WithFields<'a, FormatResult>,
}

/// Find the phone numbers in text
///
/// Finds numbers as Google's `PhoneNumberMatcher` does, each with its position and details. Takes up to 100 KB of text
/// with up to 1,000 numbers. Each number counts as a request. The minimum is one request per 100 digits or 16 KB of
/// text. The body is the text itself (`text/plain`), or a JSON object with a `text` field.
#[utoipa::path(
    post, path = "/v1/find", operation_id = "findNumbers", tag = "Batches",
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
    options: Options,
    request: Request,
) -> Result<Response, ApiError> {
    let leniency = params.parse_variant("leniency")?.unwrap_or_default();
    let media_type = preferred_media_type(request.headers(), [JSON, JSON_LINES]);
    let (parts, body) = request.into_parts();
    let is_json = is_json(&parts.headers)?;
    // Hold the body's memory until the response is complete.
    let body = LIMIT.read(&app.bodies, &charge, body).await?;
    let text = decode_text(&body)?;
    let text = if is_json { text_in_json(text)?.into() } else { Cow::Borrowed(text) };
    let numbers = find_numbers(&text, options.default_country, leniency);
    let digits = text.chars().filter(|character| character.is_numeric()).count();
    let found = find_charged(&app, &charge, numbers, digits).await?;
    request_context::record(|context| context.numbers = Some(found.len()));
    let numbers = found.iter().map(|it| &it.number);
    let describer = Describer::new(&app, key, numbers, &options, None).await?;
    let respond = || {
        let results = describe(&text, found, &describer, &options);
        results_response(media_type, &results)
    };
    app.heavy_work.run(text.len(), respond).await
}

/// Collects the numbers in text with this many digits. Charges for the digits first, then for the numbers as they are
/// found, so that uncharged numbers never outnumber charged ones. Stops at the first number over the quota, or that
/// exceeds the limit.
async fn find_charged(
    app: &App,
    charge: &Charge,
    mut numbers: impl Iterator<Item = Result<NumberInText, RulesError>>,
    digits: usize,
) -> Result<Vec<NumberInText>, ApiError> {
    let paid_by_digits = digits.div_ceil(DIGITS_PER_REQUEST);
    charge.raise_to(paid_by_digits as u64).await?;
    let (mut found, mut next_payment) = (Vec::new(), paid_by_digits.max(FIRST_NUMBERS));
    loop {
        let unpaid = numbers.by_ref().take(next_payment.min(MAX_NUMBERS + 1) - found.len());
        let more: Result<Vec<_>, _> = app.heavy_work.run(digits, || unpaid.collect()).await?;
        found.extend(more.map_err(|RulesError| ApiError::Internal)?);
        if found.len() > MAX_NUMBERS {
            return Err(ApiError::ContentTooLarge(format!(
                "The text must contain at most {MAX_NUMBERS} numbers, got more; {}",
                LIMIT.advice
            )));
        }
        charge.raise_to(found.len() as u64).await?;
        if found.len() < next_payment {
            return Ok(found);
        }
        next_payment *= 2;
    }
}

fn describe<'a>(
    text: &str,
    found: Vec<NumberInText>,
    describer: &Describer<'_>,
    options: &'a Options,
) -> Vec<FoundNumber<'a>> {
    let (mut end, mut end_byte) = (0, 0);
    let results = found.into_iter().map(|NumberInText { range, number }| {
        let start = end + text[end_byte..range.start].chars().count();
        let tn = text[range.clone()].to_owned();
        (end, end_byte) = (start + tn.chars().count(), range.end);
        let value = describer.describe(&tn, options.default_country, Some(number));
        let result = WithFields { value, fields: options.fields.as_ref() };
        FoundNumber { start, end, tn, result }
    });
    results.collect()
}

fn is_json(headers: &HeaderMap) -> Result<bool, ApiError> {
    let content_type = ContentType::from_headers(headers)?;
    match content_type.media_type() {
        "application/json" => Ok(true),
        "text/plain" => Ok(false),
        _ => Err(content_type.unsupported("application/json or text/plain")),
    }
}

fn text_in_json(body: &str) -> Result<String, ApiError> {
    match serde_json::from_str(body).map_err(|error| json_error(&error))? {
        Value::Object(mut body) if body.len() == 1 => match body.remove("text") {
            Some(Value::String(text)) => Ok(text),
            _ => Err(ApiError::invalid(JSON_RULE)),
        },
        _ => Err(ApiError::invalid(JSON_RULE)),
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, iter};

    use formatting::{DefaultCountry, PhoneNumber};

    use super::*;

    /// Searches endlessly in text with this many digits. Returns the error, how many numbers were found, and the
    /// requests that were charged.
    async fn search(per_day: u32, digits: usize) -> (ApiError, usize, u64) {
        let (app, found) = (test_api::app(), Cell::new(0));
        let charge = test_api::charge(&app, per_day);
        let number = PhoneNumber::parse("3052345678", DefaultCountry::default()).unwrap();
        let endless_numbers = iter::repeat_with(|| {
            found.set(found.get() + 1);
            Ok(NumberInText { range: 0..10, number: number.clone() })
        });
        let error = find_charged(&app, &charge, endless_numbers, digits).await.unwrap_err();
        (error, found.get(), u64::from(per_day) - charge.min_remaining().unwrap())
    }

    #[tokio::test]
    async fn uncharged_numbers_never_outnumber_charged_ones() {
        for (per_day, digits, expected_found, expected_counted) in [
            (5, 0, 8, 0),
            (20, 0, 32, 16),
            (20, 1000, 40, 20),
            (40, 1001, 44, 22),
            // Digits are charged before the search.
            (9, 901, 0, 0),
        ] {
            let (error, found, counted) = search(per_day, digits).await;
            assert!(matches!(error, ApiError::RateLimited(_)), "{error}");
            assert_eq!((found, counted), (expected_found, expected_counted), "{per_day} {digits}");
        }
    }

    #[tokio::test]
    async fn search_stops_when_a_text_exceeds_the_number_limit() {
        let (error, found, counted) = search(5000, 0).await;
        let rule = "The text must contain at most 1000 numbers, got more; send the text in parts";
        assert!(matches!(&error, ApiError::ContentTooLarge(text) if text == rule), "{error}");
        assert_eq!((found, counted), (MAX_NUMBERS + 1, 512));
    }
}
