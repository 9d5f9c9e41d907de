//! The functions, which are invoked by Lambda's own API.

use std::{collections::HashMap, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use jiff::Timestamp;
use logging::with_causes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use signed_requests::{AwsAccount, CallError, MAX_ANSWER_BYTES, Service, first_bytes};
use tokio::time::Instant;

use crate::{checks::Api, request::Request, targets::Targets};

/// The time that an answer may take. API Gateway would wait longer, but a client would have gone.
const LONGEST_ANSWER: Duration = Duration::from_secs(16);
/// The waits after a refusal for want of concurrency, which others use for a moment.
const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(2))
    .without_max_times()
    .with_jitter();
/// The header with which Lambda marks a function that failed instead of answering.
const FUNCTION_ERROR: &str = "x-amz-function-error";
/// The characters of an ARN that are not encoded in a path.
const ENCODED_IN_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// An HTTP response.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// A text, if the body is not JSON.
    pub body: Value,
}

impl Answer {
    /// An answer whose body is read as JSON, unless its media type is another one.
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

/// Why neither a function nor the API has answered.
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
    /// Whether Lambda has refused the call for want of concurrency.
    fn is_throttled(&self) -> bool {
        let Self::Call(CallError::Refused { status, .. }) = self else { return false };
        *status == StatusCode::TOO_MANY_REQUESTS
    }

    /// The error of a request with a time limit, without the address.
    pub(crate) fn of_transport(error: reqwest::Error, limit: Duration) -> Self {
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
    /// The id of the requests in the access log.
    pub request_id: String,
    pub deadline: Instant,
}

/// The response that a function hands to API Gateway.
#[derive(Deserialize)]
struct FunctionResponse {
    #[serde(rename = "statusCode")]
    status: u16,
    #[serde(default)]
    headers: HashMap<String, String>,
    body: Option<String>,
}

/// The answer of Lambda for a function that has failed.
#[derive(Deserialize)]
struct FunctionError {
    #[serde(rename = "errorMessage")]
    message: String,
}

impl Api for Functions {
    fn check_name(&self, request: &Request) -> Option<String> {
        Some(request.name())
    }

    /// Asks a function. If Lambda has no concurrency left, it is asked again until the deadline: the
    /// hooks of one deployment run at the same time, in an account that may have ten.
    async fn answer_to(&self, request: &Request) -> Result<Answer, NoAnswer> {
        let log = |error: &NoAnswer, wait: Duration| {
            let (error, function) = (with_causes(error), request.name());
            tracing::debug!(error, function, ?wait, "asking again");
        };
        let asked = || self.answer_once(request);
        let waits = WAITS.with_total_delay(Some(self.deadline - Instant::now()));
        asked.retry(waits).when(NoAnswer::is_throttled).notify(log).await
    }
}

impl Functions {
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
        let kind = response.headers().get(FUNCTION_ERROR);
        let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
        let payload = first_bytes(response, MAX_ANSWER_BYTES).await;
        let payload = payload.map_err(|error| NoAnswer::of_transport(error, limit))?;
        if let Some(kind) = kind {
            let message =
                serde_json::from_slice(&payload).map(|error: FunctionError| error.message);
            return Err(NoAnswer::Function { kind, message: message.unwrap_or_default() });
        }
        let response: FunctionResponse = serde_json::from_slice(&payload)?;
        let media_type = response.headers.get("content-type").map(String::as_str);
        Answer::new(response.status, media_type, response.body.unwrap_or_default())
    }
}

/// The time that a request may take before a deadline.
pub fn time_left(deadline: Instant) -> Duration {
    LONGEST_ANSWER.min(deadline.saturating_duration_since(Instant::now()))
}
