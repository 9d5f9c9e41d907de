//! The error responses of the OpenAPI description, declared once for all routes.

use std::collections::BTreeMap;

use axum::http::HeaderValue;
use serde::Serialize;
use utoipa::{
    IntoResponses,
    openapi::{Content, ContentBuilder, Ref, RefOr, Response, response::ResponseBuilder},
};

use super::{ApiError, PROBLEM_MEDIA_TYPE, Problem};
use crate::quota::{LimitType, QuotaExceeded, QuotaStatus, QuotaStatuses};

/// Responses by their status.
type Responses = BTreeMap<String, RefOr<Response>>;

/// An error of each status with the meaning of the status.
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
            "A parameter breaks its rule. The message names the parameter, the value and the rule.",
        ),
        (ApiError::KeyRequired, "The request has no API key, or one that is not live."),
        (
            ApiError::not_found("No data found for NPA 999"),
            "There is no record of what was asked for. The message names it.",
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
            "The body is longer than it may be, or has more in it. The message names the limit.",
        ),
        (
            ApiError::UnsupportedMediaType(
                "Content-Type must be application/json, text/plain or text/csv, got \
                 'application/xml'"
                    .to_owned(),
            ),
            "The body is in a form that the endpoint does not read. The message names those that \
             it reads.",
        ),
        (
            ApiError::RateLimited(QuotaExceeded { exhausted, statuses, requests: 1 }),
            "A quota of the API key is exhausted. `details` tells which, and when the next request \
             is admitted.",
        ),
        (ApiError::Internal, "A defect of the service."),
        (
            ApiError::Unavailable,
            "The numbering data cannot be read, or the API key cannot be checked. The message says \
             which. A retry after a few seconds may succeed.",
        ),
    ]
}

/// The statuses of failures of an endpoint that needs a key and looks up a record.
impl IntoResponses for ApiError {
    fn responses() -> Responses {
        responses(&["400", "401", "404", "405", "429", "500", "503"])
    }
}

/// The statuses of failures of an endpoint that needs a key and looks up no single record.
pub struct ListError;

impl IntoResponses for ListError {
    fn responses() -> Responses {
        responses(&["400", "401", "405", "429", "500", "503"])
    }
}

/// The statuses of failures of an endpoint that needs a key and takes many items in a body.
pub struct BodyError;

impl IntoResponses for BodyError {
    fn responses() -> Responses {
        responses(&["400", "401", "405", "413", "415", "429", "500", "503"])
    }
}

/// The statuses of failures of an endpoint that needs no key.
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
