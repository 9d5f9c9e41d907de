//! Error responses for the OpenAPI description.

use std::collections::BTreeMap;

use axum::http::HeaderValue;
use serde::Serialize;
use utoipa::{
    IntoResponses,
    openapi::{Content, ContentBuilder, Ref, RefOr, Response, response::ResponseBuilder},
};

use super::{ApiError, PROBLEM_MEDIA_TYPE, Problem};
use crate::quota::{LimitType, QuotaExceeded, QuotaStatus};

type Responses = BTreeMap<String, RefOr<Response>>;

/// An example error for each status, and the status description.
fn errors() -> [(ApiError, &'static str); 9] {
    let (limit_type, reset) = (LimitType::Minute, 1_795_244_460);
    let exhausted = QuotaStatus { limit_type, limit: 600, remaining: 0, reset };
    [
        (
            ApiError::invalid("limit must be a positive integer, got '0'"),
            "A parameter is invalid. The message states the parameter, the value and the rule.",
        ),
        (ApiError::KeyRequired, "The API key is missing, invalid, revoked or expired."),
        (
            ApiError::not_found("No data found for NPA 999"),
            "No data was found. The message states what was requested.",
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
                "The body must contain at most 1000 numbers, got 1204; send the rest in another \
                 request"
                    .to_owned(),
            ),
            "The body is too large. The message states the limit.",
        ),
        (
            ApiError::UnsupportedMediaType(
                "Content-Type must be application/json, text/plain or text/csv, got \
                 'application/xml'"
                    .to_owned(),
            ),
            "The content type is not supported. The message lists the supported ones.",
        ),
        (
            ApiError::RateLimited(QuotaExceeded::new(exhausted, 1).into()),
            "A quota is exhausted. `details` shows which one, and when it resets.",
        ),
        (ApiError::Internal, "An internal error occurred."),
        (ApiError::Unavailable, "The service is temporarily unavailable. Retry in a few seconds."),
    ]
}

/// The errors from an endpoint that looks up a record.
impl IntoResponses for ApiError {
    fn responses() -> Responses {
        responses(&["400", "401", "404", "405", "429", "500", "503"])
    }
}

/// The errors from an endpoint that returns a list.
pub struct ListError;

impl IntoResponses for ListError {
    fn responses() -> Responses {
        responses(&["400", "401", "405", "429", "500", "503"])
    }
}

/// The errors from an endpoint that takes a batch in its body.
pub struct BodyError;

impl IntoResponses for BodyError {
    fn responses() -> Responses {
        responses(&["400", "401", "405", "413", "415", "429", "500", "503"])
    }
}

/// The errors from an endpoint that does not require a key.
pub struct PublicError;

impl IntoResponses for PublicError {
    fn responses() -> Responses {
        responses(&["405", "500", "503"])
    }
}

/// References to the shared responses with these statuses.
fn responses(statuses: &[&str]) -> Responses {
    let all = shared_responses();
    let wanted = all.filter(|shared| statuses.contains(&shared.status.as_str()));
    wanted.map(|it| (it.status, Ref::from_response_name(it.name).into())).collect()
}

/// An error response that operations share, as a component of the description.
pub struct SharedResponse {
    pub name: String,
    pub status: String,
    pub response: Response,
}

pub fn shared_responses() -> impl Iterator<Item = SharedResponse> {
    errors().into_iter().map(|(error, description)| {
        let (body, (code, status)) = (error.body(), error.kind());
        let problem = Problem::new(status, body.clone());
        let response = ResponseBuilder::new()
            .description(description)
            .content("application/json", content("ErrorBody", &body))
            .content(PROBLEM_MEDIA_TYPE, content("Problem", &problem));
        let (name, status) = (format!("{code:?}"), status.as_str().to_owned());
        SharedResponse { name, status, response: response.build() }
    })
}

fn content(schema: &str, example: &impl Serialize) -> Content {
    let schema = Ref::from_schema_name(schema);
    ContentBuilder::new().schema(Some(schema)).example(serde_json::to_value(example).ok()).build()
}
