//! The functions, invoked through Lambda's API.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use logging::with_causes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::Value;
use signed_requests::{AwsAccount, CallError, MAX_ANSWER_BYTES, Service, first_bytes};
use tokio::time::Instant;

use crate::{
    api::{Answer, Api, NoAnswer},
    request::Request,
    targets::Targets,
};

/// The timeout of an answer. API Gateway would wait longer, but a client would have given up.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(16);
/// Waits after Lambda throttles a call, as concurrency is briefly used up.
const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(2))
    .without_max_times()
    .with_jitter();
/// The header that marks a function that failed instead of answering.
const FUNCTION_ERROR: &str = "x-amz-function-error";
/// Characters in an ARN that are not encoded in a path.
const ENCODED_IN_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The functions, invoked until a deadline.
pub struct Functions {
    pub account: AwsAccount,
    pub targets: Targets,
    /// The ID of the requests in the access log.
    pub request_id: String,
    pub deadline: Instant,
}

impl Api for Functions {
    fn variants(&self, request: Request) -> Vec<(String, Request)> {
        vec![(request.name(), request)]
    }

    /// Invokes a function. If Lambda throttles it, retries until the deadline: one deployment's hooks run at the same
    /// time, and an account may have a concurrency of ten.
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
        let arn = utf8_percent_encode(&self.targets[&request.function], ENCODED_IN_PATH);
        let path = format!("/2015-03-31/functions/{arn}/invocations");
        let event = request.event(&self.request_id).to_string();
        let headers = [("content-type", "application/json")];
        let call =
            self.account.call(Service::Lambda, Method::POST, &path, &headers, event.into(), limit);
        let response = call.await.map_err(|error| match error {
            CallError::Transport { source, .. } => NoAnswer::from_transport(source, limit),
            other => NoAnswer::Call(other),
        })?;
        let kind = response.headers().get(FUNCTION_ERROR);
        let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
        let payload = first_bytes(response, MAX_ANSWER_BYTES).await;
        let payload = payload.map_err(|error| NoAnswer::from_transport(error, limit))?;
        let payload: Value = serde_json::from_slice(&payload)?;
        if let Some(kind) = kind {
            let message = payload["errorMessage"].as_str().unwrap_or_default().to_owned();
            return Err(NoAnswer::Function { kind, message });
        }
        // The response that a function returns to API Gateway.
        let status = payload["statusCode"].as_u64().and_then(|status| status.try_into().ok());
        let media_type = payload["headers"]["content-type"].as_str();
        let body = payload["body"].as_str().unwrap_or_default().to_owned();
        Answer::new(status.unwrap_or_default(), media_type, body)
    }
}

/// A request's time limit before a deadline.
pub fn time_left(deadline: Instant) -> Duration {
    ANSWER_TIMEOUT.min(deadline.saturating_duration_since(Instant::now()))
}
