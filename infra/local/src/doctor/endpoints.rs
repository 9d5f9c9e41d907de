//! A probe of every endpoint of a running service, over HTTP as its clients reach it.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::{
    Client,
    header::{ACCEPT, CONTENT_TYPE},
    redirect::Policy,
};
use serde_json::Value;
use shared::auth::{ApiKey, ORIGIN_SECRET};
use signed_requests::{MAX_ANSWER_BYTES, client_builder, first_bytes};

use super::{
    endpoint_requests::{Example, Expectation, ProbeRequest, SEARCH, keyed, refused, unkeyed},
    finding::{Finding, Section},
};

/// How long one request may take; API Gateway gives up after 30 seconds.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(31);
const HTML: &str = "text/html";
/// A response that takes longer than this is called slow, as the alarm does.
const SLOW: Duration = Duration::from_secs(2);

/// A service to probe.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its address, without a slash at its end.
    pub base_url: String,
    pub key: Option<ApiKey>,
    /// What the functions ask of requests that no distribution has passed on.
    pub origin_secret: Option<String>,
}

/// A request, and what came back.
#[derive(Debug)]
pub struct Answer {
    pub request: ProbeRequest,
    pub response: Result<Received, String>,
}

/// A response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Received {
    pub status: u16,
    /// The text of a page, and null if it is no JSON either.
    pub body: Value,
    pub latency: Duration,
}

/// Asks every endpoint: without a key, and with one if there is one.
pub async fn look(client: &Client, target: &Target) -> Vec<Answer> {
    let mut first = unkeyed();
    if target.origin_secret.is_some() {
        first.push(refused());
    }
    let mut answers = ask(client, target, first).await;
    if target.key.is_some() {
        // The data names what exists, whatever has been imported.
        let search = ask(client, target, keyed(&Example::default(), Some(SEARCH))).await;
        let found = search
            .iter()
            .find_map(|answer| Example::found_by(&answer.response.as_ref().ok()?.body));
        answers.extend(search);
        if let Some(example) = found {
            answers.extend(ask(client, target, keyed(&example, None)).await);
        }
    }
    answers
}

async fn ask(client: &Client, target: &Target, requests: Vec<ProbeRequest>) -> Vec<Answer> {
    join_all(requests.into_iter().map(async |request| {
        let response = send(client, target, &request).await;
        Answer { request, response }
    }))
    .await
}

async fn send(
    client: &Client,
    target: &Target,
    request: &ProbeRequest,
) -> Result<Received, String> {
    let address = format!("{}{}", target.base_url, request.target);
    let mut sending = match &request.body {
        None => client.get(address),
        Some(body) => client.post(address).json(body),
    }
    .timeout(REQUEST_TIMEOUT);
    if request.expectation == Expectation::Page {
        sending = sending.header(ACCEPT, HTML);
    }
    if let (Expectation::Data, Some(key)) = (request.expectation, &target.key) {
        sending = sending.bearer_auth(key.reveal());
    }
    if let (true, Some(secret)) = (request.is_passed_on(), &target.origin_secret) {
        sending = sending.header(ORIGIN_SECRET, secret);
    }
    let start = Instant::now();
    let failed = |error: reqwest::Error| logging::with_causes(&error.without_url());
    let response = sending.send().await.map_err(failed)?;
    let status = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_page = content_type.is_some_and(|content_type| content_type.starts_with(HTML));
    let body = first_bytes(response, MAX_ANSWER_BYTES).await.map_err(failed)?;
    let body = if is_page {
        Value::String(String::from_utf8_lossy(&body).into_owned())
    } else {
        serde_json::from_slice(&body).unwrap_or_default()
    };
    Ok(Received { status, body, latency: start.elapsed() })
}

/// A client that shows what clients get: it follows no redirect.
pub fn client() -> Result<Client, reqwest::Error> {
    client_builder().redirect(Policy::none()).build()
}

/// What is to be said of the answers.
pub fn findings(answers: &[Answer], target: &Target) -> Vec<Finding> {
    if let Some(silence) = silence(answers, target) {
        return vec![silence];
    }
    let mut findings: Vec<Finding> = answers.iter().map(of_answer).collect();
    let has_data = |answer: &Answer| answer.request.expectation == Expectation::Data;
    if target.key.is_none() {
        let message = "not asked with a key; pass --key or set TNR_KEY to see answers, too";
        findings.push(Finding::note("with a key", message).section(Section::Examine));
    } else if answers.iter().filter(|answer| has_data(answer)).count() == 1 {
        let message = "the other endpoints were not asked with the key, since the search found no \
                       assigned exchange with a carrier";
        findings.push(Finding::warning("with a key", message).section(Section::Examine));
    }
    findings
}

/// The one finding about a service that answers nothing at all.
fn silence(answers: &[Answer], target: &Target) -> Option<Finding> {
    let errors = answers.iter().map(|answer| answer.response.as_ref().err());
    let errors: Vec<&String> = errors.collect::<Option<_>>()?;
    let message = format!("no request is answered; {}", errors.first()?);
    Some(Finding::problem(&target.base_url, message).section(Section::Logs))
}

fn of_answer(answer: &Answer) -> Finding {
    let check = answer.request.check();
    let received = match &answer.response {
        Ok(received) => received,
        Err(error) => {
            return Finding::problem(check, format!("no answer; {error}")).section(Section::Logs);
        }
    };
    let milliseconds = received.latency.as_millis();
    let status = received.status;
    if let Some(wrong) = answer.request.expectation.contradiction(status, &received.body) {
        let message = format!("{wrong} ({status} in {milliseconds} ms)");
        return Finding::problem(check, message).section(Section::Logs);
    }
    if let Some(degraded) = degraded(&received.body) {
        let message = format!("{degraded} ({status} in {milliseconds} ms)");
        return Finding::warning(check, message).heading("Database");
    }
    let message = format!("{status} in {milliseconds} ms");
    if received.latency > SLOW {
        return Finding::note(check, format!("slow: {message}")).heading("Slow");
    }
    Finding::ok(check, message)
}

/// What the health says if the service is not healthy.
fn degraded(body: &Value) -> Option<String> {
    let (status, database) = (body["status"].as_str()?, body["database"].as_str()?);
    let imported = body["last_ingestion"].as_str().unwrap_or("never");
    (status != "healthy").then(|| {
        format!("the service is '{status}', its database '{database}', imported '{imported}'")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::doctor::finding::State;

    fn answer(expectation: Expectation, status: u16, body: Value) -> Finding {
        let request = ProbeRequest::of_path("/v1/x", expectation);
        let latency = Duration::from_millis(12);
        of_answer(&Answer { request, response: Ok(Received { status, body, latency }) })
    }

    #[test]
    fn a_refusal_must_be_the_one_of_this_service() {
        let ours = json!({ "error": "unauthorized", "message": "API key required" });
        let found = answer(Expectation::Unauthorized, 401, ours);
        assert_eq!((found.state, found.message.as_str()), (State::Ok, "401 in 12 ms"));
        let of_gateway = json!({ "message": "Unauthorized" });
        assert_eq!(answer(Expectation::Unauthorized, 401, of_gateway).state, State::Problem);
        let open = answer(Expectation::Unauthorized, 200, json!({}));
        assert_eq!(open.message, "it answers without a key (200 in 12 ms)");
        let missing = json!({ "message": "Not Found" });
        let found = answer(Expectation::NotFound, 404, missing);
        assert_eq!(found.state, State::Problem, "API Gateway has no such route");
        let ours = json!({ "error": "not_found", "message": "Endpoint not found: /v1/x" });
        assert_eq!(answer(Expectation::NotFound, 404, ours).state, State::Ok);
    }

    #[test]
    fn a_service_that_says_that_it_is_degraded_is_a_warning() {
        let body = json!({ "status": "degraded", "database": "error", "last_ingestion": null });
        let found = answer(Expectation::Public, 200, body);
        assert_eq!(found.state, State::Warning);
        assert!(found.message.starts_with("the service is 'degraded', its database 'error'"));
    }

    #[test]
    fn an_error_is_repeated_with_its_message() {
        let body = json!({ "error": "unavailable", "message": "No data yet" });
        let found = answer(Expectation::Data, 503, body);
        assert_eq!(found.state, State::Problem);
        assert_eq!(found.message, "it answers 'No data yet' instead of 200 (503 in 12 ms)");
    }

    #[test]
    fn endpoints_that_were_not_asked_are_a_warning() {
        let latency = Duration::from_millis(12);
        let received = Received { status: 200, body: json!({ "results": [] }), latency };
        let request = ProbeRequest::of_path(SEARCH, Expectation::Data);
        let search = Answer { request, response: Ok(received) };
        let key = Some("tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn".parse().unwrap());
        let base_url = "https://example.com".to_owned();
        let found = findings(&[search], &Target { base_url, key, origin_secret: None });
        let [asked, left_over] = &found[..] else { panic!("{found:?}") };
        assert_eq!((asked.state, left_over.state), (State::Ok, State::Warning));
        assert!(left_over.message.starts_with("the other endpoints were not asked"));
    }

    #[test]
    fn no_answer_is_a_problem_and_a_slow_one_a_note() {
        let request = || ProbeRequest::of_path("/health", Expectation::Public);
        let response = Err("connection refused".to_owned());
        let none = Answer { request: request(), response };
        assert_eq!(of_answer(&none).state, State::Problem);
        let base_url = "https://example.com".to_owned();
        let target = Target { base_url, key: None, origin_secret: None };
        let two = [Answer { request: request(), response: none.response.clone() }, none];
        let found = findings(&two, &target);
        assert_eq!(found.len(), 1, "a service that is down is one finding");
        assert_eq!(found[0].message, "no request is answered; connection refused");
        let latency = Duration::from_secs(3);
        let received = Received { status: 200, body: json!({}), latency };
        let slow = of_answer(&Answer { request: request(), response: Ok(received) });
        assert_eq!((slow.state, slow.message.as_str()), (State::Note, "slow: 200 in 3000 ms"));
    }
}
