//! The one place that turns what went wrong into the `{error, message}` a client sees (spec 7).

use axum::{
    Json,
    http::{
        HeaderValue, StatusCode,
        header::{RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use logging::with_causes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::quota::{LimitType, QuotaStatus, QuotaStatuses};
use store::DatasetError;
use store::StoreError;

/// How long a client should wait before it tries a failed read again, in seconds.
const RETRY_AFTER_SECONDS: &str = "5";

/// Why a request has no answer.
#[derive(Debug)]
pub enum ApiError {
    /// A parameter breaks its rule; the message states the rule and the value given.
    InvalidRequest(String),
    /// `defaultCountry` names no country (spec 7 gives it an error value of its own).
    UnknownDefaultCountry(String),
    Unauthorized(&'static str),
    /// Nothing has the code asked for, or no endpoint has the path; the message names it.
    NotFound(String),
    MethodNotAllowed(String),
    /// A quota of the key is exhausted.
    RateLimited(QuotaStatuses),
    /// The database can't be read and nothing in memory can stand in for it.
    Unavailable,
    /// A defect of ours.
    Internal,
}

/// The body of every answer that is not a success (spec 7).
#[derive(Serialize, ToSchema)]
pub struct ErrorBody {
    #[schema(example = "not_found")]
    error: &'static str,
    #[schema(example = "No carrier found with OCN 9999")]
    message: String,
    /// Present with `rate_limited` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<QuotaStatus>,
}

impl ApiError {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidRequest(message.into())
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }

    fn parts(self) -> (StatusCode, &'static str, String) {
        match self {
            Self::InvalidRequest(message) => (StatusCode::BAD_REQUEST, "invalid_request", message),
            Self::UnknownDefaultCountry(message) => {
                (StatusCode::BAD_REQUEST, "Bad Request", message)
            }
            Self::Unauthorized(message) => {
                (StatusCode::UNAUTHORIZED, "unauthorized", message.to_owned())
            }
            Self::NotFound(message) => (StatusCode::NOT_FOUND, "not_found", message),
            Self::MethodNotAllowed(message) => {
                (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
            }
            Self::RateLimited(statuses) => (
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                statuses.exhausted().map(quota_exceeded).unwrap_or_default(),
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "service_unavailable",
                "The numbering data cannot be read at the moment; try again shortly".to_owned(),
            ),
            Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal_error",
                "An unexpected error occurred".to_owned(),
            ),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let quotas = match self {
            Self::RateLimited(statuses) => Some(statuses),
            _ => None,
        };
        let details = quotas.and_then(|statuses| statuses.exhausted());
        let (status, error, message) = self.parts();
        let mut response = (status, Json(ErrorBody { error, message, details })).into_response();
        let header = match status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, RETRY_AFTER_SECONDS)),
            _ => None,
        };
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        if let Some(statuses) = quotas {
            statuses.set_rate_limit_headers(response.headers_mut());
        }
        if let Some(exhausted) = details {
            exhausted.set_retry_after(response.headers_mut());
        }
        response
    }
}

fn quota_exceeded(exhausted: QuotaStatus) -> String {
    let window = match exhausted.limit_type {
        LimitType::Minute => "minute",
        LimitType::Daily => "day",
    };
    let reset = Timestamp::from_second(exhausted.reset).unwrap_or(Timestamp::MAX);
    format!("Quota of {} requests per {window} exceeded; retry after {reset}", exhausted.limit)
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(error = with_causes(&error), "the database could not answer");
        Self::Unavailable
    }
}

impl From<DatasetError> for ApiError {
    fn from(error: DatasetError) -> Self {
        tracing::error!(error = with_causes(&error), "no dataset could be loaded");
        Self::Unavailable
    }
}
