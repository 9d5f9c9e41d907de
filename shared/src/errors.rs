//! Turns failures into the `{error, message}` that a client sees (spec 7). No other code makes such
//! a body.

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
use store::{DatasetError, StoreError};
use utoipa::ToSchema;

use crate::quota::{LimitType, QuotaExceeded, QuotaStatus};

mod responses;

pub use responses::{ListError, PublicError};

/// How long a client should wait before it retries a request that failed, in seconds.
const RETRY_AFTER_SECONDS: &str = "5";

/// Why a request is not answered with success.
#[derive(Debug)]
pub enum ApiError {
    /// A parameter breaks its rule. The message states the rule and the value.
    InvalidRequest(String),
    /// `defaultCountry` names no country. Spec 7 defines an error value of its own for it.
    UnknownDefaultCountry(String),
    /// The request has no key, or one that is not live.
    Unauthorized(&'static str),
    /// No record has the code, or no endpoint has the path. The message names it.
    NotFound(String),
    /// The endpoint does not support the method. The message names both.
    MethodNotAllowed(String),
    /// A quota of the key is exhausted.
    RateLimited(QuotaExceeded),
    /// The database cannot be read, and the data in memory is not enough to answer.
    Unavailable,
    /// A defect of the service.
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
    #[schema(nullable = false)]
    details: Option<QuotaStatus>,
}

impl ApiError {
    /// A parameter breaks its rule.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidRequest(message.into())
    }

    /// No record has the code that was asked for.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }

    /// The status, and the two texts of the body.
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
            Self::RateLimited(exceeded) => (
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                quota_exceeded_message(exceeded.exhausted),
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
        let quota_exceeded = match self {
            Self::RateLimited(exceeded) => Some(exceeded),
            _ => None,
        };
        let details = quota_exceeded.map(|exceeded| exceeded.exhausted);
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
        if let Some(exceeded) = quota_exceeded {
            exceeded.set_headers(response.headers_mut());
        }
        response
    }
}

fn quota_exceeded_message(exhausted: QuotaStatus) -> String {
    let window = match exhausted.limit_type {
        LimitType::Minute => "minute",
        LimitType::Daily => "day",
    };
    let reset = Timestamp::from_second(exhausted.reset)
        .expect("a quota is reset at most one window after a request");
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
