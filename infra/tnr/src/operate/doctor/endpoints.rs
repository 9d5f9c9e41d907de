//! A running service's endpoints: the probe's checks, and requests that must be rejected.

use std::time::Duration;

use probe::{
    CheckError, Expectation, Function, HttpApi, Outcome, Request, RequestError, check_keyed,
    check_public, keyed_requests,
};
use shared::auth::ApiKey;
use tokio::time::Instant;

use super::{
    Findings,
    finding::{Finding, section},
};
use crate::error::Context;

/// Slower responses are reported. The alarm has the same threshold.
const SLOW: Duration = Duration::from_secs(2);

/// Tests the endpoints, unless the service does not respond to the first request. Without a key, tests only the public
/// ones, and that the others need a key.
pub async fn check_service(base_url: &str, key: Option<&ApiKey>, limit: Duration) -> Findings {
    let api = HttpApi::new(base_url, key.cloned(), Instant::now() + limit);
    let api = api.context("cannot create an HTTPS client")?;
    let mut found = probe::Findings::default();
    let unknown = Request::new(Function::Status, "/v1/no-such-endpoint");
    let not_found = Expectation::error(404, "not_found");
    found.record(unknown.name(), &not_found, api.send_with(&unknown, None)).await;
    if let Some(CheckError::Request(
        error @ (RequestError::Timeout(_) | RequestError::Transport(_)),
    )) = &found.outcomes[0].error
    {
        let message = format!("the service is not responding; {}", logging::with_causes(error));
        return Ok(vec![Finding::problem(base_url, message).section(section::LOGS)]);
    }
    let unauthorized = Expectation::error(401, "unauthorized");
    for request in keyed_requests() {
        let check = format!("{} without a key", request.name());
        found.record(check, &unauthorized, api.send_with(&request, None)).await;
    }
    let mut findings: Vec<Finding> = found.outcomes.iter().map(finding_for).collect();
    let mut found = check_public(&api).await;
    if key.is_some() {
        check_keyed(&api, &mut found).await;
    } else {
        let message = "not tested; pass --key or set TNR_KEY";
        findings.push(Finding::note("with a key", message).section(section::EXAMINE));
    }
    findings.extend(found.outcomes.iter().map(finding_for));
    if found.is_empty {
        let finding = Finding::problem("data", "nothing has been imported");
        findings.push(finding.section(section::FIRST_IMPORT_AND_KEY));
    }
    Ok(findings)
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
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_problems_unless_the_service_is_only_degraded() {
        let field = |field| {
            let (expected, actual) = ("\"connected\"".to_owned(), json!("error"));
            Some(CheckError::Field { field, expected, actual })
        };
        let timeout = || Some(RequestError::Timeout(Duration::from_secs(16)).into());
        let degraded = "must be \"connected\", got \"error\" (200 in 12 ms)";
        for (check, error, milliseconds, expected) in [
            ("x", None, 2000, "ok x: 200 in 2000 ms".to_owned()),
            ("x", None, 2001, "note x: slow: 200 in 2001 ms".to_owned()),
            ("x/health", field("/db"), 12, format!("warning x/health: /db {degraded}")),
            ("x", field("/npa"), 12, format!("problem x: /npa {degraded}")),
            (
                "x/health",
                timeout(),
                12,
                "problem x/health: no response within 16s (200 in 12 ms)".to_owned(),
            ),
        ] {
            let (check, latency) = (check.to_owned(), Duration::from_millis(milliseconds));
            let finding = finding_for(&Outcome { check, status: Some(200), latency, error });
            assert_eq!(finding.line(), expected);
        }
    }
}
