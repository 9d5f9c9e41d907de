//! Turns failures into responses with an `{error, message}` body. The body is also a response
//! extension, so that it can be converted to problem details (RFC 9457).

mod responses;

use std::borrow::Cow;

use axum::{
    Extension, Json,
    http::{
        HeaderValue, StatusCode,
        header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use logging::with_causes;
use numbering::records::RecordKey;
use serde::Serialize;
use serde_json::json;
use store::{DatasetError, StoreError};
use utoipa::ToSchema;

use crate::{
    public_address::PublicAddress,
    quota::{QuotaExceeded, QuotaStatus},
    request_context,
};

pub use responses::{BodyError, ListError, PublicError};

/// The challenge for a request without a key (RFC 6750, section 3).
const CHALLENGE: &str = "Bearer realm=\"Telephone Number Reference Service\"";
const INVALID_KEY_CHALLENGE: &str = "Bearer realm=\"Telephone Number Reference Service\", \
                                        error=\"invalid_token\", \
                                        error_description=\"Invalid API key\"";

const RETRY_AFTER_SECONDS: &str = "5";

const MAX_QUOTE_LENGTH: usize = 40;

/// The reason why a request failed. `Display` is the message for the client.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The request breaks a rule. The message states the rule and the value, and the parameter is the one it is about.
    #[error("{message}")]
    InvalidRequest { message: String, parameter: Option<String> },
    /// `defaultCountry` is not a country code. This has its own error code.
    #[error("{0}")]
    UnknownDefaultCountry(String),
    #[error(
        "API key required: send it as 'Authorization: Bearer <API_KEY>', as 'X-API-Key: <API_KEY>' or as the query \
         parameter apiKey"
    )]
    KeyRequired,
    /// The key is malformed, unknown, revoked or expired.
    #[error("Invalid API key")]
    InvalidKey,
    /// The record or endpoint does not exist. The message names it.
    #[error("{0}")]
    NotFound(String),
    /// The endpoint does not support the method.
    #[error("{message}")]
    MethodNotAllowed { message: String, allow: HeaderValue },
    /// The request body is too long, or has too many items. The message states the limit.
    #[error("{0}")]
    ContentTooLarge(String),
    /// The endpoint does not support the content type. The message lists the supported ones.
    #[error("{0}")]
    UnsupportedMediaType(String),
    /// One of the key's quotas is exhausted.
    #[error("{}", .0.message())]
    RateLimited(Box<QuotaExceeded>),
    /// The database cannot be read, and no dataset is in memory.
    #[error("The numbering data is temporarily unavailable; retry in a few seconds")]
    Unavailable,
    /// Every stored version is unreadable. Only an import fixes this.
    #[error("The numbering data is damaged and must be imported again")]
    Unreadable,
    /// No dataset could be loaded. The response is one of the two above, and this error is logged.
    #[error("{}", Self::from_dataset_error(.0))]
    NoDataset(#[from] DatasetError),
    #[error("{}", history_message(.0))]
    NoHistory(#[from] StoreError),
    /// The key table cannot be read, and the key is not in memory.
    #[error("The API key cannot be validated right now; retry in a few seconds")]
    KeyUnchecked,
    /// Other requests use up the resources that this one needs. The message names them.
    #[error("{0}; retry in a few seconds")]
    Busy(&'static str),
    /// A bug in the service.
    #[error("An unexpected error occurred")]
    Internal,
}

/// The body of every error response.
#[derive(Clone, Serialize, ToSchema)]
pub struct ErrorBody {
    pub(crate) error: ErrorCode,
    #[schema(example = "No carrier found with OCN 9999")]
    pub message: String,
    /// Present only with `rate_limited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) details: Option<QuotaStatus>,
    /// Only in problem details, since the default format has fixed fields.
    #[serde(skip)]
    pub(crate) parameter: Option<String>,
}

/// Machine-readable error code.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(example = "not_found")]
pub enum ErrorCode {
    InvalidRequest,
    #[serde(rename = "Bad Request")]
    BadRequest,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    ContentTooLarge,
    UnsupportedMediaType,
    RateLimited,
    ServiceUnavailable,
    InternalError,
}

/// Truncates client input for an error message.
pub fn quote(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_QUOTE_LENGTH) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

impl ApiError {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidRequest { message: message.into(), parameter: None }
    }

    /// The error for a missing, invalid or unknown parameter.
    pub fn invalid_param(name: &str, message: impl Into<String>) -> Self {
        Self::InvalidRequest { message: message.into(), parameter: Some(name.to_owned()) }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }

    /// The error for a record that does not exist.
    pub fn no_record(key: RecordKey) -> Self {
        Self::NotFound(match key {
            RecordKey::Carrier(ocn) => format!("No carrier found with OCN {ocn}"),
            RecordKey::AreaCode(npa) => format!("No data found for NPA {npa}"),
            RecordKey::Exchange(npa_nxx) => format!("No data found for NPA-NXX {npa_nxx}"),
        })
    }

    /// The response for a dataset that cannot be loaded. The cause must be logged elsewhere.
    pub fn from_dataset_error(error: &DatasetError) -> Self {
        if error.affects_every_version() { Self::Unreadable } else { Self::Unavailable }
    }

    /// The error body, for example for one result in a batch.
    pub fn body(&self) -> ErrorBody {
        let details = match self {
            Self::RateLimited(exceeded) => Some(exceeded.exhausted),
            _ => None,
        };
        let parameter = match self {
            Self::InvalidRequest { parameter, .. } => parameter.clone(),
            Self::UnknownDefaultCountry(_) => Some("defaultCountry".to_owned()),
            _ => None,
        };
        ErrorBody { error: self.kind().0, message: self.to_string(), details, parameter }
    }

    fn kind(&self) -> (ErrorCode, StatusCode) {
        match self {
            Self::InvalidRequest { .. } => (ErrorCode::InvalidRequest, StatusCode::BAD_REQUEST),
            Self::UnknownDefaultCountry(_) => (ErrorCode::BadRequest, StatusCode::BAD_REQUEST),
            Self::KeyRequired | Self::InvalidKey => {
                (ErrorCode::Unauthorized, StatusCode::UNAUTHORIZED)
            }
            Self::NotFound(_) => (ErrorCode::NotFound, StatusCode::NOT_FOUND),
            Self::MethodNotAllowed { .. } => {
                (ErrorCode::MethodNotAllowed, StatusCode::METHOD_NOT_ALLOWED)
            }
            Self::ContentTooLarge(_) => (ErrorCode::ContentTooLarge, StatusCode::PAYLOAD_TOO_LARGE),
            Self::UnsupportedMediaType(_) => {
                (ErrorCode::UnsupportedMediaType, StatusCode::UNSUPPORTED_MEDIA_TYPE)
            }
            Self::RateLimited(_) => (ErrorCode::RateLimited, StatusCode::TOO_MANY_REQUESTS),
            Self::Unavailable
            | Self::Unreadable
            | Self::NoDataset(_)
            | Self::NoHistory(_)
            | Self::KeyUnchecked
            | Self::Busy(_) => (ErrorCode::ServiceUnavailable, StatusCode::SERVICE_UNAVAILABLE),
            Self::Internal => (ErrorCode::InternalError, StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

fn history_message(error: &StoreError) -> &'static str {
    match error {
        StoreError::DamagedHistory { .. } => {
            "The history of the numbering data is damaged; 'tnr verify --repair' repairs it"
        }
        StoreError::Unrecorded { .. } => {
            "The history of the numbering data lacks the last changes, which the next import adds"
        }
        _ => "The history of the numbering data is temporarily unavailable; retry in a few seconds",
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::NoDataset(error) = self {
            tracing::error!(error = with_causes(&error), "no dataset could be loaded");
            return Self::from_dataset_error(&error).into_response();
        }
        if let Self::NoHistory(error) = &self {
            tracing::error!(error = with_causes(error), "failed to read the history");
        }
        let (body, (_, status)) = (self.body(), self.kind());
        let mut response = (status, Extension(body.clone()), Json(body)).into_response();
        let text = HeaderValue::from_static;
        let (name, value) = match self {
            Self::KeyRequired => (WWW_AUTHENTICATE, text(CHALLENGE)),
            Self::InvalidKey => (WWW_AUTHENTICATE, text(INVALID_KEY_CHALLENGE)),
            Self::MethodNotAllowed { allow, .. } => (ALLOW, allow),
            // A retry would not help.
            Self::NoHistory(StoreError::DamagedHistory { .. } | StoreError::Unrecorded { .. }) => {
                return response;
            }
            Self::Unavailable | Self::NoHistory(_) | Self::KeyUnchecked | Self::Busy(_) => {
                (RETRY_AFTER, text(RETRY_AFTER_SECONDS))
            }
            Self::RateLimited(exceeded) => {
                exceeded.set_headers(response.headers_mut());
                return response;
            }
            _ => return response,
        };
        response.headers_mut().insert(name, value);
        response
    }
}

pub const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

/// An error as problem details (RFC 9457, section 3).
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem {
    /// The URL of the error's explanation, which is the same for every occurrence.
    #[serde(rename = "type")]
    problem_type: String,
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
    /// The missing, invalid or unknown parameter, if the error is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "limit")]
    parameter: Option<String>,
    /// Same as the `X-Request-Id` header.
    #[schema(example = "0199a7de-3c41-7d1a-b7f2-6a1f0c9e4d2b")]
    request_id: String,
    /// Present only with `rate_limited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<QuotaStatus>,
}

/// Converts an error response to problem details. Other responses are unchanged. The problem type links to the error's
/// anchor in the documentation at `address`.
pub(crate) fn into_problem(
    mut response: Response,
    PublicAddress(address): PublicAddress,
) -> Response {
    let Some(body) = response.extensions_mut().remove::<ErrorBody>() else { return response };
    let ErrorBody { error, message, details, parameter } = body;
    let code = json!(error);
    let anchor = code.as_str().unwrap_or_default().to_lowercase().replace(' ', "_");
    let status = response.status();
    let problem = Problem {
        problem_type: format!("{}/docs#{anchor}", address.unwrap_or_default()),
        title: status.canonical_reason().unwrap_or_default(),
        status: status.as_u16(),
        detail: message,
        error,
        parameter,
        request_id: request_context::request_id().unwrap_or_default(),
        details,
    };
    *response.body_mut() = Json(problem).into_response().into_body();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_MEDIA_TYPE));
    response
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use numbering::records::Version;

    use super::*;

    #[test]
    fn long_values_are_truncated() {
        let text = "é".repeat(1000);
        assert_eq!(quote(&text).chars().count(), MAX_QUOTE_LENGTH + 1);
    }

    #[test]
    fn errors_about_a_parameter_name_it() {
        for (error, parameter) in [
            (ApiError::invalid_param("limit", "limit must be positive"), Some("limit")),
            (ApiError::UnknownDefaultCountry("XX".into()), Some("defaultCountry")),
            (ApiError::invalid("At least one filter is required"), None),
            (ApiError::not_found("No data"), None),
        ] {
            assert_eq!(error.body().parameter.as_deref(), parameter, "{error}");
        }
    }

    #[test]
    fn errors_have_a_retry_time_unless_only_an_operator_can_help() {
        let damaged = || StoreError::DamagedHistory { part: String::new(), source: "gone".into() };
        let unrecorded =
            || StoreError::Unrecorded { publication: Version::new(Timestamp::UNIX_EPOCH) };
        let table = StoreError::Manifest { table: String::new(), source: "gone".into() };
        for (error, remedy, has_retry_time) in [
            (ApiError::NoHistory(damaged()), "tnr verify --repair", false),
            (ApiError::NoHistory(unrecorded()), "the next import", false),
            (ApiError::NoHistory(table), "retry in a few seconds", true),
            (ApiError::Unreadable, "must be imported again", false),
            (ApiError::Unavailable, "retry in a few seconds", true),
            (ApiError::KeyUnchecked, "retry in a few seconds", true),
            (ApiError::Busy("The server is busy"), "busy; retry in a few seconds", true),
        ] {
            assert!(error.to_string().contains(remedy), "{error}");
            assert_eq!(error.into_response().headers().contains_key(RETRY_AFTER), has_retry_time);
        }
    }
}
