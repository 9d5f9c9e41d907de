//! Errors as problem details (RFC 9457).

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ErrorBody, ErrorCode};
use crate::quota::QuotaStatus;

pub const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

/// An error as problem details (RFC 9457, section 3).
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: `status` and `error` identify the problem.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    problem_type: &'static str,
    /// The reason phrase for the status.
    #[schema(example = "Not Found")]
    title: &'static str,
    #[schema(example = 404)]
    status: u16,
    /// Same as `message` in the default error format.
    #[schema(example = "No carrier found with OCN 9999")]
    detail: String,
    /// Same as `error` in the default error format.
    error: ErrorCode,
    /// Present only with `rate_limited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<QuotaStatus>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        ErrorBody { error, message, details }: ErrorBody,
    ) -> Self {
        Self {
            problem_type: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: message,
            error,
            details,
        }
    }
}

/// Converts an error response to problem details. Other responses are unchanged.
pub(crate) fn into_problem(mut response: Response) -> Response {
    let Some(error) = response.extensions_mut().remove::<ErrorBody>() else { return response };
    let problem = Problem::new(response.status(), error);
    *response.body_mut() = Json(problem).into_response().into_body();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_MEDIA_TYPE));
    response
}
