//! A way to reach the functions, and what it returns.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;
use signed_requests::CallError;

use crate::request::Request;

/// A way to reach the functions.
pub trait Api {
    /// The variants of a request to check, each with the name of its check.
    fn variants(&self, request: Request) -> Vec<(String, Request)>;

    fn answer_to(&self, request: &Request)
    -> impl Future<Output = Result<Answer, NoAnswer>> + Send;
}

/// An HTTP response.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// A JSON string, if the body is not JSON.
    pub body: Value,
}

impl Answer {
    /// Parses the body as JSON, unless its media type says otherwise.
    pub(crate) fn new(
        status: u16,
        media_type: Option<&str>,
        body: String,
    ) -> Result<Self, NoAnswer> {
        let is_json = media_type.is_none_or(|media_type| media_type.contains("json"));
        let body = if is_json { serde_json::from_str(&body)? } else { Value::String(body) };
        Ok(Self { status, body })
    }
}

/// Reason for a missing answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    #[error(transparent)]
    Call(CallError),
    #[error("the request failed")]
    Transport(#[source] reqwest::Error),
    #[error("the function has failed ({kind}): {message}")]
    Function { kind: String, message: String },
    #[error("the answer is not JSON")]
    NoJson(#[from] serde_json::Error),
}

impl NoAnswer {
    /// Returns `true` if Lambda throttled the call.
    pub(crate) fn is_throttled(&self) -> bool {
        let Self::Call(CallError::Refused { status, .. }) = self else { return false };
        *status == StatusCode::TOO_MANY_REQUESTS
    }

    /// The error of a request with a time limit, without its URL.
    pub(crate) fn from_transport(error: reqwest::Error, limit: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout(limit);
        }
        Self::Transport(error.without_url())
    }
}
