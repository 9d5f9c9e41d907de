//! A running service's endpoints: the probe's checks, and requests that must be rejected.

use std::time::Duration;

use probe::{
    Api, Check, CheckError, Expectation, Findings, Function, HttpApi, Outcome, Request,
    RequestError, Response, check_all, keyed_checks,
};
use shared::auth::ApiKey;
use tokio::time::Instant;

use super::finding::{Finding, Group, section};
use crate::{CliError, error::Context};

/// Slower responses are reported. The alarm has the same threshold.
const SLOW: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct Target {
    pub base_url: String,
    pub key: Option<ApiKey>,
}

struct Service<'a> {
    api: HttpApi,
    key: Option<&'a ApiKey>,
}

impl Api for Service<'_> {
    /// A request on each of its routes, because API Gateway configures routes separately. Without
    /// a key, only the requests that do not need one.
    fn variants(&self, request: Request) -> Vec<(String, Request)> {
        let with_key = if request.needs_key() { " with the key" } else { "" };
        let requests = on_each_route(request).filter(|it| self.key.is_some() || !it.needs_key());
        requests.map(|request| (name(&request, with_key), request)).collect()
    }

    async fn send(&self, request: &Request) -> Result<Response, RequestError> {
        let key = self.key.filter(|_| request.needs_key());
        self.api.send(request, key.map(ApiKey::reveal)).await
    }
}

fn on_each_route(request: Request) -> impl Iterator<Item = Request> {
    request.at_other_route().into_iter().chain([request])
}

fn name(request: &Request, suffix: &str) -> String {
    format!("{} {}{suffix}", request.method(), request.description())
}

pub async fn check_service(target: &Target, limit: Duration) -> Result<Group, CliError> {
    let outcomes = gather(target, limit).await.context("cannot create an HTTPS client")?;
    Ok(Group { name: "endpoints", findings: findings(&outcomes, target) })
}

/// Tests every endpoint, unless the service does not respond to the first request.
async fn gather(target: &Target, limit: Duration) -> Result<Findings, reqwest::Error> {
    let Target { base_url, key } = target;
    let api = HttpApi::new(base_url, Instant::now() + limit)?;
    let service = Service { api, key: key.as_ref() };
    let mut found = Findings::default();
    let unknown = Request::new(Function::Status, "/v1/no-such-endpoint");
    let not_found = Expectation::error(404, "not_found");
    found.record(name(&unknown, ""), &not_found, service.api.send(&unknown, None)).await;
    if no_response(&found).is_some() {
        return Ok(found);
    }
    let unauthorized = Expectation::error(401, "unauthorized");
    for request in keyed_checks().flat_map(|Check { request, .. }| on_each_route(request)) {
        let check = name(&request, " without a key");
        found.record(check, &unauthorized, service.api.send(&request, None)).await;
    }
    found.extend(check_all(&service).await);
    Ok(found)
}

/// The error if the service does not respond at all.
fn no_response(found: &Findings) -> Option<&RequestError> {
    match found.outcomes.first()?.error.as_ref()? {
        CheckError::Request(error @ (RequestError::Timeout(_) | RequestError::Transport(_))) => {
            Some(error)
        }
        _ => None,
    }
}

fn findings(found: &Findings, target: &Target) -> Vec<Finding> {
    if let Some(error) = no_response(found) {
        let message = format!("the service is not responding; {}", logging::with_causes(error));
        return vec![Finding::problem(&target.base_url, message).section(section::LOGS)];
    }
    let mut findings: Vec<Finding> = found.outcomes.iter().map(finding_for).collect();
    if found.is_empty {
        let finding = Finding::problem("data", "nothing has been imported");
        findings.push(finding.section(section::FIRST_IMPORT_AND_KEY));
    }
    if target.key.is_none() {
        let message = "not tested; pass --key or set TNR_KEY";
        findings.push(Finding::note("with a key", message).section(section::EXAMINE));
    }
    findings
}

fn finding_for(Outcome { check, status, latency, error }: &Outcome) -> Finding {
    let status = status.map_or("no status".to_owned(), |status| status.to_string());
    let result = format!("{status} in {} ms", latency.as_millis());
    match error {
        // A degraded service still serves clients.
        Some(error @ CheckError::Field { .. }) if check.ends_with("/health") => {
            Finding::warning(check, format!("{error} ({result})")).section(section::DATABASE)
        }
        Some(error) => {
            let message = format!("{} ({result})", logging::with_causes(error));
            Finding::problem(check, message).section(section::LOGS)
        }
        None if *latency > SLOW => {
            Finding::note(check, format!("slow: {result}")).section(section::SLOW)
        }
        None => Finding::ok(check, result),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::{openapi, operate::doctor::finding::State};

    #[test]
    fn errors_are_problems_unless_the_service_is_only_degraded() {
        let field = |field| {
            let (expected, actual) = ("\"connected\"".to_owned(), json!("error"));
            Some(CheckError::Field { field, expected, actual })
        };
        let timeout = || Some(RequestError::Timeout(Duration::from_secs(16)).into());
        for (check, error, milliseconds, state, message) in [
            ("GET /v1/stats", None, 12, State::Ok, "200 in 12 ms"),
            ("GET /v1/stats", None, 3000, State::Note, "slow: 200 in 3000 ms"),
            (
                "GET /health",
                field("/database"),
                12,
                State::Warning,
                "/database must be \"connected\", got \"error\" (200 in 12 ms)",
            ),
            ("GET /v1/npa/{npa}", field("/npa"), 12, State::Problem, "/npa must be"),
            ("GET /v1/health", timeout(), 12, State::Problem, "no response within 16s"),
        ] {
            let (check, latency) = (check.to_owned(), Duration::from_millis(milliseconds));
            let finding = finding_for(&Outcome { check, status: Some(200), latency, error });
            assert_eq!(finding.state, state, "{finding:?}");
            assert!(finding.message.starts_with(message), "{finding:?}");
        }
    }

    #[test]
    fn every_keyed_endpoint_is_tested_without_a_key() {
        let requests = keyed_checks().flat_map(|Check { request, .. }| on_each_route(request));
        let tested: BTreeSet<String> = requests.map(|it| it.route.replace("+}", "}")).collect();
        let description = openapi::description();
        for (path, item) in description["paths"].as_object().unwrap() {
            let operations = ["get", "post"].map(|method| &item[method]);
            let mut operations = operations.into_iter().filter(|it| it.is_object());
            let needs_key = operations.any(openapi::needs_key);
            assert!(!needs_key || tested.contains(path), "{path} is not tested");
        }
    }
}
