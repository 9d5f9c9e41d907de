//! Turns failures into the `{error, message}` that a client sees (spec 7). No other code makes such
//! a body. It travels with the response, so that [`crate::http`] can show it in another form.

mod problem;
mod quote;
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

use crate::quota::{LimitType, QuotaExceeded, QuotaStatus};

pub use problem::{PROBLEM_MEDIA_TYPE, Problem};
pub use quote::quote;
pub use responses::{BodyError, ListError, PublicError};

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
    /// The endpoint does not support the method. The message names both, and the header those that it
    /// supports.
    MethodNotAllowed { message: String, allow: HeaderValue },
    /// The body of the request is longer than it may be, or has more in it. The message names the limit.
    ContentTooLarge(String),
    /// The body of the request is in a form that the endpoint does not read. The message names those
    /// that it reads.
    UnsupportedMediaType(String),
    /// A quota of the key is exhausted.
    RateLimited(QuotaExceeded),
    /// The database cannot be read, and the data in memory is not enough to answer.
    Unavailable,
    /// No stored version of the data can be read, which only an import mends.
    Unreadable,
    /// The table of keys cannot be read, and memory does not have the key.
    KeyUnchecked,
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

impl ErrorBody {
    /// What is wrong, for persons.
    pub fn message(&self) -> &str {
        &self.message
    }
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
    ContentTooLarge,
    UnsupportedMediaType,
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

    /// There is no dataset to answer from.
    pub fn without_dataset(error: &DatasetError) -> Self {
        if error.is_of_every_version() { Self::Unreadable } else { Self::Unavailable }
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
            Self::MethodNotAllowed { message, .. } => {
                (StatusCode::METHOD_NOT_ALLOWED, ErrorCode::MethodNotAllowed, message)
            }
            Self::ContentTooLarge(message) => {
                (StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::ContentTooLarge, message)
            }
            Self::UnsupportedMediaType(message) => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::UnsupportedMediaType, message)
            }
            Self::RateLimited(exceeded) => (
                StatusCode::TOO_MANY_REQUESTS,
                ErrorCode::RateLimited,
                quota_exceeded_message(exceeded),
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ServiceUnavailable,
                "The numbering data cannot be read at the moment; retry in a few seconds"
                    .to_owned(),
            ),
            Self::KeyUnchecked => (
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ServiceUnavailable,
                "The API key cannot be checked at the moment; retry in a few seconds".to_owned(),
            ),
            Self::Unreadable => (
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ServiceUnavailable,
                "The numbering data is damaged and has to be imported again".to_owned(),
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

    /// The body of the error, for one that stands in the place of a single result among others.
    pub fn body(self) -> ErrorBody {
        self.status_and_body().1
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
        let text = HeaderValue::from_static;
        let header = match &self {
            Self::KeyRequired => Some((WWW_AUTHENTICATE, text(CHALLENGE))),
            Self::InvalidKey => Some((WWW_AUTHENTICATE, text(CHALLENGE_OF_INVALID_KEY))),
            Self::MethodNotAllowed { allow, .. } => Some((ALLOW, allow.clone())),
            Self::Unavailable | Self::KeyUnchecked => {
                Some((RETRY_AFTER, text(RETRY_AFTER_SECONDS)))
            }
            _ => None,
        };
        let (status, body) = self.status_and_body();
        let mut response = (status, Extension(body.clone()), Json(body)).into_response();
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        if let Some(exceeded) = quota_exceeded {
            exceeded.set_headers(response.headers_mut());
        }
        response
    }
}

fn quota_exceeded_message(exceeded: QuotaExceeded) -> String {
    let QuotaExceeded { exhausted: QuotaStatus { limit_type, limit, remaining, reset }, .. } =
        exceeded;
    let window = match limit_type {
        LimitType::Minute => "minute",
        LimitType::Daily => "day",
    };
    let reset =
        Timestamp::from_second(reset).expect("a quota is reset at most one window after a request");
    let (requests, fitting) = (exceeded.requests, exceeded.statuses.least_remaining());
    if requests == 1 || remaining == 0 {
        return format!("Quota of {limit} requests per {window} exceeded; retry after {reset}");
    }
    let has_left = format!("Quota of {limit} requests per {window} has {remaining} left");
    let counts_as = format!("this one counts as {requests}");
    if requests > limit {
        format!("{has_left}, and {counts_as}; send at most {fitting} numbers now")
    } else {
        format!(
            "{has_left}, and {counts_as}; send at most {fitting} numbers now, or retry after {reset}"
        )
    }
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
        Self::without_dataset(&error)
    }
}
