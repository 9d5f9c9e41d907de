//! Sends requests through Lambda's API to the functions, in their live or newest versions. Also sends requests to the
//! API's URL, which covers DNS, certificate, routes and key table.

use std::{collections::BTreeMap, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use logging::with_causes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rand::{RngExt, distr::Alphanumeric};
use reqwest::{Client, Method, header, redirect::Policy};
use serde_json::{Value, json};
use shared::auth::{ApiKey, KeyKind, SECRET_LENGTH};
use signed_requests::{
    AwsAccount, CallError, MAX_RESPONSE_BYTES, Service, client_builder, first_bytes,
};
use strum::VariantArray;
use tokio::time::Instant;

use crate::{
    checks::{health, statistics},
    findings::Findings,
    request::{Function, Request},
    response::{Api, Expectation, RequestError, Response},
};

/// The timeout for a request. API Gateway would wait longer, but clients would not.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(16);
const RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(2))
    .without_max_times()
    .with_jitter();
const FUNCTION_ERROR: &str = "x-amz-function-error";
const ENCODED_IN_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub struct Functions {
    pub account: AwsAccount,
    pub targets: BTreeMap<Function, String>,
    pub request_id: String,
    pub deadline: Instant,
}

impl Api for Functions {
    /// Retries throttled calls until the deadline. Deployment hooks run concurrently, and accounts may allow only ten.
    async fn send(&self, request: &Request) -> Result<Response, RequestError> {
        let log = |error: &RequestError, wait: Duration| {
            let (error, function) = (with_causes(error), request.name());
            tracing::debug!(error, function, ?wait, "retrying a throttled call");
        };
        let retries = RETRIES.with_total_delay(Some(self.deadline - Instant::now()));
        (|| self.send_once(request))
            .retry(retries)
            .when(RequestError::is_throttled)
            .notify(log)
            .await
    }
}

impl Functions {
    async fn send_once(&self, request: &Request) -> Result<Response, RequestError> {
        let timeout = timeout_before(self.deadline);
        let arn = utf8_percent_encode(&self.targets[&request.function], ENCODED_IN_PATH);
        let path = format!("/2015-03-31/functions/{arn}/invocations");
        let event = request.event(&self.request_id).to_string();
        let headers = [("content-type", "application/json")];
        let lambda = Service::Lambda;
        let call = self.account.call(lambda, Method::POST, &path, &headers, event.into(), timeout);
        let response = call.await.map_err(|error| match error {
            CallError::Transport { source, .. } => RequestError::from_transport(source, timeout),
            other => RequestError::Call(other),
        })?;
        let kind = response.headers().get(FUNCTION_ERROR);
        let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
        let payload = first_bytes(response, MAX_RESPONSE_BYTES).await;
        let payload = payload.map_err(|error| RequestError::from_transport(error, timeout))?;
        let payload: Value = serde_json::from_slice(&payload)?;
        if let Some(kind) = kind {
            let message = payload["errorMessage"].as_str().unwrap_or_default().to_owned();
            return Err(RequestError::Function { kind, message });
        }
        // The payload is a response in API Gateway's format.
        let status = payload["statusCode"].as_u64().and_then(|status| status.try_into().ok());
        let media_type = payload["headers"]["content-type"].as_str();
        let body = payload["body"].as_str().unwrap_or_default();
        Response::new(status.unwrap_or_default(), media_type, body)
    }
}

fn timeout_before(deadline: Instant) -> Duration {
    REQUEST_TIMEOUT.min(deadline.saturating_duration_since(Instant::now()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// The versions behind the alias that the API invokes.
    Live,
    /// The newest versions, which have no traffic yet.
    New,
}

/// Returns the versions from the environment, or the aliases. A deployment sets the variables before it moves an alias.
pub fn targets(
    versions: Versions,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<Function, String>, String> {
    let target = |&function: &Function| {
        let variable = format!("{}_VERSION", function.name().to_uppercase());
        let value = environment(&variable).unwrap_or_default();
        let parts = value
            .rsplit_once(':')
            .filter(|(arn, version)| arn.contains(":function:") && version.parse::<u64>().is_ok());
        match (parts, versions) {
            (Some(_), Versions::New) => Ok((function, value)),
            (Some((arn, _)), Versions::Live) => Ok((function, format!("{arn}:live"))),
            (None, _) => Err(format!(
                "the environment variable {variable} must be the ARN of a function version, got \
                 '{value}'"
            )),
        }
    };
    Function::VARIANTS.iter().map(target).collect()
}

/// The API at a URL, called until a deadline. Does not follow redirects.
#[derive(Clone)]
pub struct HttpApi {
    client: Client,
    base_url: String,
    key: Option<ApiKey>,
    deadline: Instant,
}

impl HttpApi {
    pub fn new(base_url: &str, key: Option<ApiKey>, deadline: Instant) -> reqwest::Result<Self> {
        let client = client_builder().redirect(Policy::none()).build()?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, base_url, key, deadline })
    }

    /// Sends an unknown key. Its rejection shows that the key table is readable.
    pub async fn check_unknown_key(&self, findings: &mut Findings) {
        let request = Request::new(Function::Carriers, "/v1/carriers");
        let name = format!("API {} with an unknown key", request.route);
        let unauthorized = json!({ "error": "unauthorized", "message": "Invalid API key" });
        let unauthorized = Expectation::error(401, unauthorized);
        let api = Self { key: Some(random_key()), ..self.clone() };
        findings.record(name, &unauthorized, api.send(&request)).await;
    }
}

impl Api for HttpApi {
    async fn send(&self, request: &Request) -> Result<Response, RequestError> {
        let timeout = timeout_before(self.deadline);
        let failed = |error| RequestError::from_transport(error, timeout);
        let url = format!("{}{}", self.base_url, request.target());
        let mut builder = match &request.body {
            None => self.client.get(url),
            Some(body) => {
                let builder = self.client.post(url).body(body.clone());
                builder.header(header::CONTENT_TYPE, request.media_type)
            }
        };
        builder = builder.header(header::ACCEPT, request.media_type).timeout(timeout);
        if let Some(key) = &self.key {
            builder = builder.bearer_auth(key.reveal());
        }
        let response = builder.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let media_type = response.headers().get(header::CONTENT_TYPE).cloned();
        let bytes = first_bytes(response, MAX_RESPONSE_BYTES).await.map_err(failed)?;
        let media_type = media_type.as_ref().and_then(|media_type| media_type.to_str().ok());
        Response::new(status, media_type, &String::from_utf8_lossy(&bytes))
    }
}

/// Calls the endpoints that do not need a key, and one endpoint with an unknown key.
pub async fn check_api(api: &HttpApi, findings: &mut Findings) {
    for (request, expectation) in [health(), statistics()] {
        // Before the first import, a 503 for statistics would count toward the error alarm.
        if !findings.is_empty || request.route == "/v1/health" {
            let name = format!("API {}", request.route);
            let response = findings.record(name, &expectation, api.send(&request)).await;
            if let Some(response) = response {
                findings.set_data_state(&response);
            }
        }
    }
    api.check_unknown_key(findings).await;
}

/// Returns a well-formed unknown key. It is new each time, because the service caches unknown keys for a while.
fn random_key() -> ApiKey {
    let characters = rand::rng().sample_iter(Alphanumeric).take(SECRET_LENGTH);
    ApiKey::with_secret(KeyKind::Live, &characters.map(char::from).collect::<String>())
        .expect("the characters are letters and digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_variable_without_a_version() {
        for value in ["", "arn:aws:lambda:us-east-1:1:function:npa", "arn:x:function:npa:live"] {
            let environment = |variable: &str| match variable {
                "NPA_VERSION" => Some(value.to_owned()),
                _ => Some("arn:aws:lambda:us-east-1:123456789012:function:numbers-x:7".to_owned()),
            };
            let error = targets(Versions::Live, environment).unwrap_err();
            assert!(error.contains("NPA_VERSION") && error.contains(value), "{error}");
        }
    }
}
