//! Responses, and the interface to what sends them.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;
use signed_requests::CallError;

use crate::request::Request;

/// The functions behind the API, or the API at its URL.
pub trait Api {
    fn send(
        &self,
        request: &Request,
    ) -> impl Future<Output = Result<Response, RequestError>> + Send;
}

#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    pub status: u16,
    /// The body; a JSON string if it is not JSON.
    pub body: Value,
}

impl Response {
    /// Parses the body as JSON unless the media type says otherwise.
    pub(crate) fn new(
        status: u16,
        media_type: Option<&str>,
        body: &str,
    ) -> Result<Self, RequestError> {
        let is_json = media_type.is_none_or(|media_type| media_type.contains("json"));
        let body = if is_json { serde_json::from_str(body)? } else { body.into() };
        Ok(Self { status, body })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("no response within {0:?}")]
    Timeout(Duration),
    #[error(transparent)]
    Call(CallError),
    #[error("the request failed")]
    Transport(#[source] reqwest::Error),
    #[error("the function failed ({kind}): {message}")]
    Function { kind: String, message: String },
    #[error("the response is not JSON")]
    InvalidJson(#[from] serde_json::Error),
}

impl RequestError {
    pub(crate) fn is_throttled(&self) -> bool {
        let Self::Call(CallError::Refused { status, .. }) = self else { return false };
        *status == StatusCode::TOO_MANY_REQUESTS
    }

    /// Converts an error, without its URL.
    pub(crate) fn from_transport(error: reqwest::Error, timeout: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout(timeout);
        }
        Self::Transport(error.without_url())
    }
}
