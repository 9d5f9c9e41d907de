//! A running service's endpoints over HTTP: the probe's checks, and requests that must be refused.

use std::time::Duration;

use probe::{
    Answer, Api, Check, CheckError, Expectation, Findings, Function, HttpApi, NoAnswer, Outcome,
    Request, check_all, keyed_checks,
};
use shared::auth::ApiKey;
use tokio::time::Instant;

use super::finding::{Finding, Group, section};
use crate::{CliError, error::Context};

/// Slower responses are reported, as by the alarm.
const SLOW: Duration = Duration::from_secs(2);

/// A service to examine.
#[derive(Debug, Clone)]
pub struct Target {
    pub base_url: String,
    pub key: Option<ApiKey>,
    /// The secret that functions require from requests that bypass the distribution.
    pub origin_secret: Option<String>,
}

/// The service, with the key to use, if any.
struct Service<'a> {
    api: HttpApi,
    key: Option<&'a ApiKey>,
}

impl Api for Service<'_> {
    /// All forms of a request, because API Gateway configures each route separately. Without a key, only those that
    /// need none.
    fn variants(&self, request: Request) -> Vec<(String, Request)> {
        let with_key = if request.needs_key() { " with the key" } else { "" };
        let forms = forms(request).filter(|form| self.key.is_some() || !form.needs_key());
        forms.map(|form| (name(&form, with_key), form)).collect()
    }

    async fn answer_to(&self, request: &Request) -> Result<Answer, NoAnswer> {
        let key = self.key.filter(|_| request.needs_key());
        self.api.answer_to(request, key.map(ApiKey::reveal)).await
    }
}

fn forms(request: Request) -> impl Iterator<Item = Request> {
    request.at_other_route().into_iter().chain([request])
}

fn name(request: &Request, circumstances: &str) -> String {
    format!("{} {}{circumstances}", request.method(), request.description())
}

/// Examines a running service.
pub async fn examine_service(target: &Target, limit: Duration) -> Result<Group, CliError> {
    let outcomes = look(target, limit).await;
    let outcomes = outcomes.context("no HTTPS client can be made")?;
    Ok(Group { name: "endpoints", findings: findings(&outcomes, target) })
}

/// Tests every endpoint, unless the first request gets no answer.
async fn look(target: &Target, limit: Duration) -> Result<Findings, reqwest::Error> {
    let Target { base_url, key, origin_secret } = target;
    let deadline = Instant::now() + limit;
    let api = HttpApi::new(base_url, origin_secret.clone(), deadline)?;
    let service = Service { api, key: key.as_ref() };
    let mut found = Findings::default();
    let nowhere = Request::to(Function::Status, "/v1/no-such-endpoint");
    let not_found = Expectation::refusal(404, "not_found");
    found.record(name(&nowhere, ""), &not_found, service.api.answer_to(&nowhere, None)).await;
    if silence(&found).is_some() {
        return Ok(found);
    }
    let unauthorized = Expectation::refusal(401, "unauthorized");
    for request in keyed_checks().flat_map(|Check { request, .. }| forms(request)) {
        let check = name(&request, " without a key");
        found.record(check, &unauthorized, service.api.answer_to(&request, None)).await;
    }
    found.add(check_all(&service).await);
    if origin_secret.is_some() {
        let past = HttpApi::new(base_url, None, deadline)?;
        let health = Request::to(Function::Status, "/v1/health");
        let check = name(&health, " past the distribution");
        let forbidden = Expectation::refusal(403, "forbidden");
        found.record(check, &forbidden, past.answer_to(&health, None)).await;
    }
    Ok(found)
}

/// The reason that a service does not answer at all.
fn silence(found: &Findings) -> Option<&NoAnswer> {
    match found.outcomes.first()?.error.as_ref()? {
        CheckError::NoAnswer(error @ (NoAnswer::Timeout(_) | NoAnswer::Transport(_))) => {
            Some(error)
        }
        _ => None,
    }
}

fn findings(found: &Findings, target: &Target) -> Vec<Finding> {
    if let Some(error) = silence(found) {
        let message = format!("no request is answered; {}", logging::with_causes(error));
        return vec![Finding::problem(&target.base_url, message).section(section::LOGS)];
    }
    let mut findings: Vec<Finding> = found.outcomes.iter().map(finding_about).collect();
    if found.is_empty {
        let finding = Finding::problem("data", "nothing has been imported");
        findings.push(finding.section(section::FIRST_IMPORT_AND_KEY));
    }
    if target.key.is_none() {
        let message = "not asked with a key; pass --key or set TNR_KEY to see answers, too";
        findings.push(Finding::note("with a key", message).section(section::EXAMINE));
    }
    findings
}

fn finding_about(Outcome { check, status, latency, error }: &Outcome) -> Finding {
    let status = status.map_or("no status".to_owned(), |status| status.to_string());
    let told = format!("{status} in {} ms", latency.as_millis());
    match error {
        // A degraded service still answers clients.
        Some(error @ CheckError::Field { .. }) if check.ends_with("/health") => {
            Finding::warning(check, format!("{error} ({told})")).section(section::DATABASE)
        }
        Some(error) => {
            let message = format!("{} ({told})", logging::with_causes(error));
            Finding::problem(check, message).section(section::LOGS)
        }
        None if *latency > SLOW => {
            Finding::note(check, format!("slow: {told}")).section(section::SLOW)
        }
        None => Finding::ok(check, told),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::{openapi, operate::doctor::finding::State};

    fn finding(check: &str, error: Option<CheckError>, milliseconds: u64) -> Finding {
        let latency = Duration::from_millis(milliseconds);
        finding_about(&Outcome { check: check.to_owned(), status: Some(200), latency, error })
    }

    #[test]
    fn errors_are_problems_unless_the_service_is_only_degraded() {
        let field = |field| {
            let (expected, actual) = ("\"connected\"".to_owned(), json!("error"));
            Some(CheckError::Field { field, expected, actual })
        };
        let no_answer = || Some(NoAnswer::Timeout(Duration::from_secs(16)).into());
        for (check, error, milliseconds, state, message) in [
            ("GET /v1/stats", None, 12, State::Ok, "200 in 12 ms"),
            ("GET /v1/stats", None, 3000, State::Note, "slow: 200 in 3000 ms"),
            (
                "GET /health",
                field("/database"),
                12,
                State::Warning,
                "/database is \"error\", and must be \"connected\" (200 in 12 ms)",
            ),
            ("GET /v1/npa/{npa}", field("/npa"), 12, State::Problem, "/npa is \"error\", and"),
            ("GET /v1/health", no_answer(), 12, State::Problem, "no answer within 16s"),
        ] {
            let finding = finding(check, error, milliseconds);
            assert_eq!(finding.state, state, "{finding:?}");
            assert!(finding.message.starts_with(message), "{finding:?}");
        }
    }

    #[test]
    fn every_keyed_endpoint_is_tested_without_a_key() {
        let requests = keyed_checks().flat_map(|Check { request, .. }| forms(request));
        let asked: BTreeSet<String> = requests.map(|it| it.route.replace("+}", "}")).collect();
        let description = openapi::description();
        for (path, item) in description["paths"].as_object().unwrap() {
            let operations = ["get", "post"].map(|method| &item[method]);
            let mut operations = operations.into_iter().filter(|it| it.is_object());
            let needs_key = operations.any(openapi::needs_key);
            assert!(!needs_key || asked.contains(path), "no check of {path}");
        }
    }
}
