//! The error responses in the OpenAPI description, declared once for all routes.

use std::collections::BTreeMap;

use axum::http::HeaderValue;
use serde::Serialize;
use utoipa::{
    IntoResponses,
    openapi::{Content, ContentBuilder, Ref, RefOr, Response, response::ResponseBuilder},
};

use super::{ApiError, PROBLEM_MEDIA_TYPE, Problem};
use crate::quota::{LimitType, QuotaExceeded, QuotaStatus, QuotaStatuses};

/// Responses by status.
type Responses = BTreeMap<String, RefOr<Response>>;

/// An error for each status, with the status's meaning.
fn errors() -> [(ApiError, &'static str); 9] {
    let exhausted = QuotaStatus {
        limit_type: LimitType::Minute,
        limit: 600,
        remaining: 0,
        reset: 1_795_244_460,
    };
    let statuses = QuotaStatuses { minute: Some(exhausted), daily: None };
    [
        (
            ApiError::invalid("limit must be a positive integer, got '0'"),
            "A parameter is invalid. The message names the parameter, the value and the rule.",
        ),
        (ApiError::KeyRequired, "The API key is missing, invalid, revoked or expired."),
        (
            ApiError::not_found("No data found for NPA 999"),
            "No data found. The message names what was requested.",
        ),
        (
            ApiError::MethodNotAllowed {
                message: "POST is not allowed on /v1/carriers; use GET".to_owned(),
                allow: HeaderValue::from_static("GET, HEAD, OPTIONS"),
            },
            "The endpoint does not support the method.",
        ),
        (
            ApiError::ContentTooLarge(
                "The body must have at most 1000 numbers, got 1204; send the others in another \
                 request"
                    .to_owned(),
            ),
            "The body is too large. The message names the limit.",
        ),
        (
            ApiError::UnsupportedMediaType(
                "Content-Type must be application/json, text/plain or text/csv, got \
                 'application/xml'"
                    .to_owned(),
            ),
            "The content type is not supported. The message names the supported ones.",
        ),
        (
            ApiError::RateLimited(QuotaExceeded { exhausted, statuses, requests: 1 }),
            "A quota is exhausted. `details` names it, and the time at which to retry.",
        ),
        (ApiError::Internal, "An internal error."),
        (
            ApiError::Unavailable,
            "The numbering data or the API key cannot be read. Retry in a few seconds.",
        ),
    ]
}

/// The error statuses of an endpoint that needs a key and looks up a record.
impl IntoResponses for ApiError {
    fn responses() -> Responses {
        responses(&["400", "401", "404", "405", "429", "500", "503"])
    }
}

/// The error statuses of an endpoint that needs a key and does not look up a single record.
pub struct ListError;

impl IntoResponses for ListError {
    fn responses() -> Responses {
        responses(&["400", "401", "405", "429", "500", "503"])
    }
}

/// The error statuses of an endpoint that needs a key and takes a batch in its body.
pub struct BodyError;

impl IntoResponses for BodyError {
    fn responses() -> Responses {
        responses(&["400", "401", "405", "413", "415", "429", "500", "503"])
    }
}

/// The error statuses of an endpoint without authentication.
pub struct PublicError;

impl IntoResponses for PublicError {
    fn responses() -> Responses {
        responses(&["405", "500", "503"])
    }
}

fn responses(statuses: &[&str]) -> Responses {
    let all = errors().into_iter().map(response);
    all.filter(|(status, _)| statuses.contains(&status.as_str())).collect()
}

fn response((error, meaning): (ApiError, &str)) -> (String, RefOr<Response>) {
    let body = error.body();
    let status = body.error.status();
    let response = ResponseBuilder::new()
        .description(meaning)
        .content("application/json", content("ErrorBody", &body))
        .content(PROBLEM_MEDIA_TYPE, content("Problem", &Problem::new(status, body.clone())));
    (status.as_str().to_owned(), response.into())
}

fn content(schema: &str, example: &impl Serialize) -> Content {
    let schema = Ref::from_schema_name(schema);
    ContentBuilder::new().schema(Some(schema)).example(serde_json::to_value(example).ok()).build()
}
