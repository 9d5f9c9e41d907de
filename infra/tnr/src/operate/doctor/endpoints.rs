//! Checks a running service's endpoints: the probe's checks over HTTP.

use std::time::Duration;

use probe::{CheckError, HttpApi, Outcome, RequestError, check_keyed, check_public};
use shared::auth::ApiKey;
use tokio::time::Instant;

use super::finding::{CheckResult, Finding};
use crate::error::Context;

/// Slower responses are reported. The alarm has the same threshold.
const SLOW: Duration = Duration::from_secs(2);

/// Checks the endpoints. Without a key, checks only the public ones, and that an unknown key is rejected.
pub async fn check_service(base_url: &str, key: Option<&ApiKey>, limit: Duration) -> CheckResult {
    let api = HttpApi::new(base_url, key.cloned(), Instant::now() + limit);
    let api = api.context("cannot create an HTTPS client")?;
    let mut found = check_public(&api).await;
    if let Some(CheckError::Request(
        error @ (RequestError::Timeout(_) | RequestError::Transport(_)),
    )) = &found.outcomes[0].error
    {
        let message = format!("the service is not responding; {}", logging::with_causes(error));
        return Ok(vec![Finding::problem(base_url, message).section("Logs and metrics")]);
    }
    api.check_unknown_key(&mut found).await;
    let mut findings = Vec::new();
    if key.is_some() {
        check_keyed(&api, &mut found).await;
    } else {
        let message = "not tested; pass --key or set TNR_KEY";
        findings.push(Finding::note("with a key", message).section("Examine a deployment"));
    }
    if found.is_empty {
        let finding = Finding::problem("data", "nothing has been imported");
        findings.push(finding.section("First import and first key"));
    }
    Ok(found.outcomes.iter().map(finding_for).chain(findings).collect())
}

fn finding_for(Outcome { check, status, latency, error }: &Outcome) -> Finding {
    let status = status.map_or("no status".to_owned(), |status| status.to_string());
    let result = format!("{status} in {} ms", latency.as_millis());
    match error {
        // A degraded service still serves its clients.
        Some(error @ CheckError::Field { .. }) if check.ends_with("/health") => {
            Finding::warning(check, format!("{error} ({result})")).section("Database")
        }
        Some(error) => {
            let message = format!("{} ({result})", logging::with_causes(error));
            Finding::problem(check, message).section("Logs and metrics")
        }
        None if *latency > SLOW => Finding::note(check, format!("slow: {result}")).section("Slow"),
        None => Finding::ok(check, result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_problems_unless_the_service_is_only_degraded() {
        let field = |field: &str| {
            let [field, expected, actual] =
                [field, "\"connected\"", "\"error\""].map(str::to_owned);
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
