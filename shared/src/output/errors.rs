//! Turns failures into the `{error, message}` body that clients see. Nothing else creates such a body. It is
//! attached to the response, so that [`crate::http`] can reformat it.

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
use logging::with_causes;
use serde::Serialize;
use store::DatasetError;
use utoipa::ToSchema;

use crate::quota::{QuotaExceeded, QuotaStatus};

pub(crate) use problem::as_problem;
pub use problem::{PROBLEM_MEDIA_TYPE, Problem};
pub use quote::quote;
pub use responses::{BodyError, ListError, PublicError};

/// The challenge to a client without a key (RFC 6750, section 3).
const CHALLENGE: &str = "Bearer realm=\"Telephone Number Reference Service\"";
const INVALID_KEY_CHALLENGE: &str = "Bearer realm=\"Telephone Number Reference Service\", \
                                        error=\"invalid_token\", \
                                        error_description=\"Invalid API key\"";

/// Delay before a client should retry, in seconds.
const RETRY_AFTER_SECONDS: &str = "5";

/// The reason a request fails. Displays the message for the client.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// A parameter breaks its rule. The message states the rule and the value.
    #[error("{0}")]
    InvalidRequest(String),
    /// `defaultCountry` is not a country. It has its own error code.
    #[error("{0}")]
    UnknownDefaultCountry(String),
    #[error(
        "API key required: send it as 'Authorization: Bearer <API_KEY>', as 'X-API-Key: <API_KEY>' or as the query \
         parameter apiKey"
    )]
    KeyRequired,
    /// The key of the request is malformed, unknown, revoked or expired.
    #[error("Invalid API key")]
    InvalidKey,
    /// The request bypassed the address at which the API is published.
    #[error("Requests are answered only at the address at which this API is published")]
    Forbidden,
    /// No record has this code, or no endpoint has this path. The message names it.
    #[error("{0}")]
    NotFound(String),
    /// The endpoint does not support the method. The message names both, and the header lists the supported
    /// ones.
    #[error("{message}")]
    MethodNotAllowed { message: String, allow: HeaderValue },
    /// The request body is too long, or has too many items. The message states the limit.
    #[error("{0}")]
    ContentTooLarge(String),
    /// The endpoint does not support this content type. The message names the supported ones.
    #[error("{0}")]
    UnsupportedMediaType(String),
    /// A quota of the key is exhausted.
    #[error("{}", .0.message())]
    RateLimited(QuotaExceeded),
    /// The database cannot be read, and memory does not have the answer.
    #[error("The numbering data cannot be read at the moment; retry in a few seconds")]
    Unavailable,
    /// No stored data version can be read. Only an import fixes this.
    #[error("The numbering data is damaged and has to be imported again")]
    Unreadable,
    /// No dataset could be loaded. The response is one of the two above, and the cause is logged.
    #[error("{}", Self::without_dataset(.0))]
    NoDataset(Box<DatasetError>),
    /// The key table cannot be read, and the key is not in memory.
    #[error("The API key cannot be checked at the moment; retry in a few seconds")]
    KeyUnchecked,
    /// A bug in the service.
    #[error("An unexpected error occurred")]
    Internal,
}

/// The body of every error.
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
    /// The human-readable message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Machine-readable kind of error.
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

impl ErrorCode {
    fn status(self) -> StatusCode {
        match self {
            Self::InvalidRequest | Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::ContentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::ServiceUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl ApiError {
    /// A parameter breaks its rule.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidRequest(message.into())
    }

    /// No record has the requested code.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }

    /// There is no dataset to answer from. The reason is logged elsewhere.
    pub fn without_dataset(error: &DatasetError) -> Self {
        if error.is_of_every_version() { Self::Unreadable } else { Self::Unavailable }
    }

    /// No endpoint has the path.
    pub fn no_endpoint(uri: &Uri) -> Self {
        Self::NotFound(format!("Endpoint not found: {}", quote(uri.path())))
    }

    /// The error body for one result in a batch.
    pub fn body(&self) -> ErrorBody {
        let details = self.quota_exceeded().map(|exceeded| exceeded.exhausted);
        ErrorBody { error: self.code(), message: self.to_string(), details }
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidRequest(_) => ErrorCode::InvalidRequest,
            Self::UnknownDefaultCountry(_) => ErrorCode::BadRequest,
            Self::KeyRequired | Self::InvalidKey => ErrorCode::Unauthorized,
            Self::Forbidden => ErrorCode::Forbidden,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::ContentTooLarge(_) => ErrorCode::ContentTooLarge,
            Self::UnsupportedMediaType(_) => ErrorCode::UnsupportedMediaType,
            Self::RateLimited(_) => ErrorCode::RateLimited,
            Self::Unavailable | Self::Unreadable | Self::NoDataset(_) | Self::KeyUnchecked => {
                ErrorCode::ServiceUnavailable
            }
            Self::Internal => ErrorCode::InternalError,
        }
    }

    fn quota_exceeded(&self) -> Option<QuotaExceeded> {
        match self {
            Self::RateLimited(exceeded) => Some(*exceeded),
            _ => None,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::NoDataset(error) = self {
            tracing::error!(error = with_causes(&*error), "no dataset could be loaded");
            return Self::without_dataset(&error).into_response();
        }
        let quota_exceeded = self.quota_exceeded();
        let text = HeaderValue::from_static;
        let header = match &self {
            Self::KeyRequired => Some((WWW_AUTHENTICATE, text(CHALLENGE))),
            Self::InvalidKey => Some((WWW_AUTHENTICATE, text(INVALID_KEY_CHALLENGE))),
            Self::MethodNotAllowed { allow, .. } => Some((ALLOW, allow.clone())),
            Self::Unavailable | Self::KeyUnchecked => {
                Some((RETRY_AFTER, text(RETRY_AFTER_SECONDS)))
            }
            _ => None,
        };
        let body = self.body();
        let mut response =
            (body.error.status(), Extension(body.clone()), Json(body)).into_response();
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        if let Some(exceeded) = quota_exceeded {
            exceeded.set_headers(response.headers_mut());
        }
        response
    }
}

impl From<DatasetError> for ApiError {
    fn from(error: DatasetError) -> Self {
        Self::NoDataset(Box::new(error))
    }
}
