//! Responses, expected responses, and the interface for sending requests.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;
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
    /// The body. If it is not JSON, a JSON string.
    pub body: Value,
}

impl Response {
    /// Parses the body as JSON, unless it has a different media type.
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

    /// Converts an error without its URL.
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
    Field { field: String, expected: String, actual: String },
}

/// Matches any string in an expected body.
pub const TEXT: &str = "<text>";
/// Matches any positive number in an expected body.
pub const ABOVE_ZERO: &str = "<a number above 0>";
/// Before text, matches any text that contains it.
pub const CONTAINS: &str = "<contains>";

/// The expected status of a response, and the values that its body may contain. One of them must match in all its
/// fields and items.
#[derive(Debug, Clone)]
pub struct Expectation {
    status: u16,
    bodies: Vec<Value>,
}

impl Expectation {
    pub(crate) fn success(bodies: impl Into<Vec<Value>>) -> Self {
        Self { status: 200, bodies: bodies.into() }
    }

    pub(crate) fn error(status: u16, body: Value) -> Self {
        Self { status, bodies: vec![body] }
    }

    /// Compares a response. The error refers to the first expected body.
    pub(crate) fn compare(&self, Response { status, body }: &Response) -> Result<(), CheckError> {
        if *status != self.status {
            let error = body["error"].as_str().unwrap_or("no error").to_owned();
            return Err(CheckError::Status { expected: self.status, actual: *status, error });
        }
        let mut results = self.bodies.iter().map(|expected| compare(expected, body, ""));
        let first = results.next().unwrap_or(Ok(()));
        if results.any(|result| result.is_ok()) { Ok(()) } else { first }
    }
}

fn compare(expected: &Value, actual: &Value, field: &str) -> Result<(), CheckError> {
    let is_met = match (expected, expected.as_str()) {
        (Value::Object(fields), _) => {
            return fields.iter().try_for_each(|(name, expected)| {
                compare(expected, &actual[name], &format!("{field}/{name}"))
            });
        }
        (Value::Array(items), _) => {
            return items.iter().enumerate().try_for_each(|(index, expected)| {
                compare(expected, &actual[index], &format!("{field}/{index}"))
            });
        }
        (_, Some(TEXT)) => actual.is_string(),
        (_, Some(ABOVE_ZERO)) => actual.as_u64().is_some_and(|number| number > 0),
        (_, Some(text)) => match text.strip_prefix(CONTAINS) {
            Some(part) => actual.as_str().is_some_and(|actual| actual.contains(part)),
            None => actual == expected,
        },
        _ => actual == expected,
    };
    if is_met {
        return Ok(());
    }
    // A whole page would be too long.
    let actual = actual.to_string().chars().take(100).collect();
    Err(CheckError::Field { field: field.to_owned(), expected: expected.to_string(), actual })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::health;

    #[test]
    fn unexpected_responses_are_errors_that_state_the_difference() {
        let health_body = |status: &str, database: &str, last_ingestion: Option<&str>| json!({ "status": status, "database": database, "last_ingestion": last_ingestion });
        let time = Some("1970-01-01T00:00:00Z");
        let page = || Expectation::success([json!(CONTAINS.to_owned() + "</body>")]);
        let total = || Expectation::success([json!([{ "total": ABOVE_ZERO }])]);
        let unauthorized = || Expectation::error(401, json!({ "error": "unauthorized" }));
        let errors = [
            (health().1, 200, health_body("degraded", "connected", None)),
            (health().1, 200, health_body("healthy", "connected", time)),
            (health().1, 200, health_body("degraded", "connected", time)),
            (health().1, 200, health_body("degraded", "x", None)),
            (page(), 200, json!("<p></body>")),
            (page(), 200, json!("<p>".repeat(100))),
            (page(), 200, json!({})),
            (total(), 200, json!([{ "total": 1, "more": true }])),
            (total(), 200, json!([{ "total": 0 }])),
            (total(), 200, json!([])),
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
