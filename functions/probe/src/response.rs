//! Responses, the interface to what sends them, and the expected ones.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use signed_requests::CallError;

use crate::request::Request;

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

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("the status must be {expected}, got {actual} ({error})")]
    Status { expected: u16, actual: u16, error: String },
    #[error("{field} must be {expected}, got {actual}")]
    Field { field: &'static str, expected: String, actual: Value },
    #[error("the body does not contain {0}")]
    Content(String),
}

#[derive(Debug, Clone)]
pub enum Part {
    Equals(Value),
    Text,
    AboveZero,
    /// The health status, which is degraded before the first import.
    Health,
    Contains(&'static str),
    /// At least one row in the list has a string in this field.
    RowWith(&'static str),
}

/// The expected status and parts of a response. JSON pointers identify the parts.
#[derive(Debug, Clone)]
pub struct Expectation {
    status: u16,
    parts: Vec<(&'static str, Part)>,
}

impl Expectation {
    pub(crate) fn success(parts: impl Into<Vec<(&'static str, Part)>>) -> Self {
        Self { status: 200, parts: parts.into() }
    }

    pub fn error(status: u16, error: &str) -> Self {
        Self { status, parts: vec![("/error", Part::Equals(json!(error)))] }
    }

    pub(crate) fn with_message(mut self, message: &str) -> Self {
        self.parts.push(("/message", Part::Equals(json!(message))));
        self
    }

    pub(crate) fn compare(&self, Response { status, body }: &Response) -> Result<(), CheckError> {
        if *status != self.status {
            let error = body["error"].as_str().unwrap_or("no error").to_owned();
            return Err(CheckError::Status { expected: self.status, actual: *status, error });
        }
        self.parts.iter().try_for_each(|(field, part)| part.compare(field, body))
    }
}

impl Part {
    fn compare(&self, field: &'static str, body: &Value) -> Result<(), CheckError> {
        let actual = body.pointer(field).unwrap_or(&Value::Null);
        let (is_right, expected) = match self {
            Self::Equals(expected) => (actual == expected, expected.to_string()),
            Self::Text => (actual.is_string(), "a string".to_owned()),
            Self::AboveZero => {
                (actual.as_u64().is_some_and(|number| number > 0), "a number above 0".to_owned())
            }
            Self::Health => {
                let is_empty = body["last_ingestion"].is_null();
                let expected = if is_empty { "degraded" } else { "healthy" };
                (actual == expected, expected.to_owned())
            }
            Self::Contains(text) => {
                (body.as_str().is_some_and(|body| body.contains(*text)), format!("{text:?}"))
            }
            Self::RowWith(name) => {
                let mut rows = actual.as_array().into_iter().flatten();
                (rows.any(|row| row[name].is_string()), format!("a row with {name}"))
            }
        };
        match self {
            _ if is_right => Ok(()),
            Self::Contains(_) | Self::RowWith(_) => Err(CheckError::Content(expected)),
            _ => Err(CheckError::Field { field, expected, actual: actual.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::health;

    #[test]
    fn unexpected_responses_are_errors_that_state_the_difference() {
        let with = |part: Part| Expectation::success([("", part)]);
        let contains = |text| with(Part::Contains(text));
        let row = || with(Part::RowWith("ocn"));
        let unauthorized = || Expectation::error(401, "unauthorized");
        let health_body = |status: &str, database: &str, last_ingestion: Option<&str>| json!({ "status": status, "database": database, "last_ingestion": last_ingestion });
        let time = Some("1970-01-01T00:00:00Z");
        let errors = [
            (health().1, 200, health_body("degraded", "connected", None)),
            (health().1, 200, health_body("healthy", "connected", time)),
            (health().1, 200, health_body("degraded", "connected", time)),
            (health().1, 200, health_body("degraded", "x", None)),
            (contains("\n201,"), 200, json!("tn\n201,")),
            (contains("\n201,"), 200, json!("tn\n")),
            (contains("x"), 200, json!({})),
            (with(Part::AboveZero), 200, json!(0)),
            (row(), 200, json!([{ "ocn": "9206" }])),
            (row(), 200, json!([{ "ocn": null }])),
            (unauthorized(), 401, json!({ "error": "unauthorized" })),
            (unauthorized(), 401, json!({})),
            (unauthorized(), 503, json!({ "error": "x" })),
        ]
        .map(|(expectation, status, body)| {
            let error = expectation.compare(&Response { status, body: body.clone() }).err();
            let error = error.map_or("as expected".to_owned(), |error| error.to_string());
            format!("{status} {body}: {error}\n")
        });
        insta::assert_snapshot!(errors.concat());
    }
}
