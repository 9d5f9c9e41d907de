//! The functions, which are invoked by Lambda's own API.

use std::{collections::HashMap, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use jiff::Timestamp;
use logging::with_causes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use signed_requests::{AwsAccount, CallError, MAX_ANSWER_BYTES, Service, first_bytes};
use tokio::time::Instant;

use crate::{request::Request, targets::Targets};

/// How long an answer may take. API Gateway would wait longer, but a client would have gone.
pub const LONGEST_ANSWER: Duration = Duration::from_secs(16);
/// How long to wait after a refusal for want of concurrency, which others use for a moment.
const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(2))
    .without_max_times()
    .with_jitter();
/// The header by which Lambda tells that a function has failed instead of answering.
const FUNCTION_ERROR: &str = "x-amz-function-error";
/// The characters of an ARN that are not encoded in a path.
const ENCODED_IN_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// An HTTP response.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// A text, if the body is not of JSON.
    pub body: Value,
}

/// Why there is no answer of a function or of the API.
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
    #[error("the answer is no JSON")]
    NoJson(#[from] serde_json::Error),
}

impl NoAnswer {
    /// Whether Lambda has refused the call for want of concurrency.
    fn is_throttled(&self) -> bool {
        let Self::Call(CallError::Refused { status, .. }) = self else { return false };
        *status == StatusCode::TOO_MANY_REQUESTS
    }

    /// The error of a request that had so much time. The address is left out.
    pub fn of_transport(error: reqwest::Error, limit: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout(limit);
        }
        Self::Transport(error.without_url())
    }
}

/// The functions, which are asked until a deadline.
pub struct Functions {
    pub account: AwsAccount,
    pub targets: Targets,
    /// What the lines of the requests in the access log are found by.
    pub request_id: String,
    pub deadline: Instant,
}

/// What a function hands to API Gateway.
#[derive(Deserialize)]
struct FunctionResponse {
    #[serde(rename = "statusCode")]
    status: u16,
    #[serde(default)]
    headers: HashMap<String, String>,
    body: Option<String>,
}

impl FunctionResponse {
    fn is_json(&self) -> bool {
        self.headers.get("content-type").is_none_or(|media_type| media_type.contains("json"))
    }
}

/// What Lambda answers for a function that has failed.
#[derive(Deserialize)]
struct FunctionError {
    #[serde(rename = "errorMessage")]
    message: String,
}

impl Functions {
    /// The answer of a function. If Lambda has no concurrency left, it is asked again until the deadline:
    /// the hooks of one deployment run at the same time, in an account that may have ten.
    pub async fn answer_to(&self, request: &Request) -> Result<Answer, NoAnswer> {
        let log = |error: &NoAnswer, wait: Duration| {
            let (error, function) = (with_causes(error), request.name());
            tracing::debug!(error, function, ?wait, "asking again");
        };
        let asked = || self.answer_once(request);
        let waits = WAITS.with_total_delay(Some(self.deadline - Instant::now()));
        asked.retry(waits).when(NoAnswer::is_throttled).notify(log).await
    }

    async fn answer_once(&self, request: &Request) -> Result<Answer, NoAnswer> {
        let limit = time_left(self.deadline);
        let arn = utf8_percent_encode(self.targets.arn(request.function), ENCODED_IN_PATH);
        let path = format!("/2015-03-31/functions/{arn}/invocations");
        let event = request.event(&self.request_id, Timestamp::now()).to_string();
        let headers = [("content-type", "application/json")];
        let call =
            self.account.call(Service::Lambda, Method::POST, &path, &headers, event.into(), limit);
        let response = call.await.map_err(|error| match error {
            CallError::Transport { source, .. } => NoAnswer::of_transport(source, limit),
            other => NoAnswer::Call(other),
        })?;
        let kind = function_error(&response);
        let payload = first_bytes(response, MAX_ANSWER_BYTES).await;
        let payload = payload.map_err(|error| NoAnswer::of_transport(error, limit))?;
        if let Some(kind) = kind {
            let message =
                serde_json::from_slice(&payload).map(|error: FunctionError| error.message);
            return Err(NoAnswer::Function { kind, message: message.unwrap_or_default() });
        }
        let response: FunctionResponse = serde_json::from_slice(&payload)?;
        let is_json = response.is_json();
        let text = response.body.unwrap_or_default();
        let body = if is_json { serde_json::from_str(&text)? } else { Value::String(text) };
        Ok(Answer { status: response.status, body })
    }
}

/// How long a request may take at most before a deadline.
pub fn time_left(deadline: Instant) -> Duration {
    LONGEST_ANSWER.min(deadline.saturating_duration_since(Instant::now()))
}

fn function_error(response: &Response) -> Option<String> {
    let kind = response.headers().get(FUNCTION_ERROR)?;
    Some(String::from_utf8_lossy(kind.as_bytes()).into_owned())
}
