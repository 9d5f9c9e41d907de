//! Turns failures into the `{error, message}` that a client sees (spec 7). No other code makes such
//! a body. It travels with the response, so that [`crate::http`] can show it in another form.

mod problem;
mod responses;

use axum::{
    Extension, Json,
    http::{
        HeaderValue, StatusCode, Uri,
        header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use logging::with_causes;
use serde::Serialize;
use store::{DatasetError, StoreError};
use utoipa::ToSchema;

use crate::{
    params::quote,
    quota::{LimitType, QuotaExceeded, QuotaStatus},
};

pub use problem::{PROBLEM_MEDIA_TYPE, Problem};
pub use responses::{ListError, PublicError};

/// The methods that every endpoint has.
pub(crate) const ALLOWED_METHODS: &str = "GET, HEAD, OPTIONS";

const KEY_REQUIRED: &str = "API key required: send it as 'Authorization: Bearer <API_KEY>', \
                            as 'X-API-Key: <API_KEY>' or as the query parameter apiKey";
const INVALID_KEY: &str = "Invalid API key";
const NOT_PUBLISHED: &str =
    "Requests are answered only at the address at which this API is published";

/// What a client without a key is told of how to authenticate (RFC 6750, section 3).
const CHALLENGE: &str = "Bearer realm=\"Telephone Number Reference Service\"";
/// What a client whose key is not live is told besides.
const CHALLENGE_OF_INVALID_KEY: &str = "Bearer realm=\"Telephone Number Reference Service\", \
                                        error=\"invalid_token\", \
                                        error_description=\"Invalid API key\"";

/// How long a client should wait before it retries a request that failed, in seconds.
const RETRY_AFTER_SECONDS: &str = "5";

/// Why a request is not answered with success.
#[derive(Debug)]
pub enum ApiError {
    /// A parameter breaks its rule. The message states the rule and the value.
    InvalidRequest(String),
    /// `defaultCountry` names no country. Spec 7 defines an error value of its own for it.
    UnknownDefaultCountry(String),
    /// The request has no key.
    KeyRequired,
    /// The key of the request is malformed, unknown, revoked or expired.
    InvalidKey,
    /// The request went around the address at which the API is published.
    Forbidden,
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

/// The body of every error (spec 7).
#[derive(Clone, Serialize, ToSchema)]
pub struct ErrorBody {
    pub(crate) error: ErrorCode,
    #[schema(example = "No carrier found with OCN 9999")]
    pub(crate) message: String,
    /// Present with `rate_limited` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) details: Option<QuotaStatus>,
}

/// What kind of error it is (spec 7), for programs.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = "not_found")]
pub enum ErrorCode {
    InvalidRequest,
    #[serde(rename = "Bad Request")]
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RateLimited,
    ServiceUnavailable,
    InternalError,
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

    /// No endpoint has the path.
    pub fn no_endpoint(uri: &Uri) -> Self {
        Self::NotFound(format!("Endpoint not found: {}", quote(uri.path())))
    }

    /// The status, and the code and message of the body.
    fn parts(self) -> (StatusCode, ErrorCode, String) {
        match self {
            Self::InvalidRequest(message) => {
                (StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest, message)
            }
            Self::UnknownDefaultCountry(message) => {
                (StatusCode::BAD_REQUEST, ErrorCode::BadRequest, message)
            }
            Self::KeyRequired => {
                (StatusCode::UNAUTHORIZED, ErrorCode::Unauthorized, KEY_REQUIRED.to_owned())
            }
            Self::InvalidKey => {
                (StatusCode::UNAUTHORIZED, ErrorCode::Unauthorized, INVALID_KEY.to_owned())
            }
            Self::Forbidden => {
                (StatusCode::FORBIDDEN, ErrorCode::Forbidden, NOT_PUBLISHED.to_owned())
            }
            Self::NotFound(message) => (StatusCode::NOT_FOUND, ErrorCode::NotFound, message),
            Self::MethodNotAllowed(message) => {
                (StatusCode::METHOD_NOT_ALLOWED, ErrorCode::MethodNotAllowed, message)
            }
            Self::RateLimited(exceeded) => (
                StatusCode::TOO_MANY_REQUESTS,
                ErrorCode::RateLimited,
                quota_exceeded_message(exceeded.exhausted),
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ServiceUnavailable,
                "The numbering data cannot be read at the moment; retry in some seconds".to_owned(),
            ),
            Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                ErrorCode::InternalError,
                "An unexpected error occurred".to_owned(),
            ),
        }
    }

    /// The quotas of the key, if one of them is why the request is refused.
    fn quota_exceeded(&self) -> Option<QuotaExceeded> {
        match self {
            Self::RateLimited(exceeded) => Some(*exceeded),
            _ => None,
        }
    }

    /// The status and the body.
    fn status_and_body(self) -> (StatusCode, ErrorBody) {
        let details = self.quota_exceeded().map(|exceeded| exceeded.exhausted);
        let (status, error, message) = self.parts();
        (status, ErrorBody { error, message, details })
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let quota_exceeded = self.quota_exceeded();
        let header = match self {
            Self::KeyRequired => Some((WWW_AUTHENTICATE, CHALLENGE)),
            Self::InvalidKey => Some((WWW_AUTHENTICATE, CHALLENGE_OF_INVALID_KEY)),
            Self::MethodNotAllowed(_) => Some((ALLOW, ALLOWED_METHODS)),
            Self::Unavailable => Some((RETRY_AFTER, RETRY_AFTER_SECONDS)),
            _ => None,
        };
        let (status, body) = self.status_and_body();
        let mut response = (status, Extension(body.clone()), Json(body)).into_response();
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
