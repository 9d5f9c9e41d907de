//! The Lambda function around the checks: deadline, log line and answer.

use std::{
    env,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lambda_runtime::{Error, LambdaEvent};
use logging::with_causes;
use serde_json::{Value, json};
use shared::auth::OriginSecrets;
use signed_requests::AwsAccount;
use tokio::time::Instant;

use crate::{
    api::Api,
    checks::{Check, check_all, health},
    deployment::{REPORT_TIME, report},
    event::{Deployment, Event, Request},
    expectation::CheckError,
    findings::Findings,
    functions::Functions,
    http_api::{HttpApi, check_api, secret_for},
    targets::{Serving, targets},
};

/// The time for the checks if Lambda does not state its limit.
const CHECKS_TIMEOUT: Duration = Duration::from_secs(50);

/// An invocation: the ID of its requests in the access log, and its deadline.
#[derive(Clone)]
struct Invocation {
    id: String,
    deadline: Instant,
}

/// Runs the checks that the event asks for, and returns the findings.
pub async fn handle(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    let deadline = time_for_checks(context.deadline);
    let invocation = Invocation { id: context.request_id, deadline };
    let findings = match Event::parse(payload)? {
        Event::Deployment(deployment) => answer_codedeploy(deployment, invocation).await,
        Event::Request(request) => check_service(request, invocation).await,
    };
    Ok(findings.map_err(|error| with_causes(&*error))?.answer())
}

/// Checks the new versions and tells CodeDeploy the verdict. If the probe itself fails, so does the deployment.
async fn answer_codedeploy(
    deployment: Deployment,
    invocation: Invocation,
) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    // In its own task, so that CodeDeploy hears even of a panic.
    let checks = tokio::spawn(check_new_versions(account.clone(), invocation)).await;
    let findings = checks.map_err(Error::from).and_then(std::convert::identity);
    let succeeded = findings.as_ref().is_ok_and(Findings::are_good);
    if let Ok(findings) = &findings {
        println!("{}", findings.line());
    }
    report(&account, &deployment, succeeded).await?;
    findings
}

async fn check_new_versions(
    account: AwsAccount,
    invocation: Invocation,
) -> Result<Findings, Error> {
    let next = functions_at(Serving::Next, account.clone(), &invocation)?;
    let mut findings = check_all(&next).await;
    // Live versions are not compared: for a minute after an import they may legitimately differ.
    if let (Some(assigned), Some(found)) = (findings.assigned, findings.found) {
        let outdated = must_be("/pagination/total", assigned, json!(found));
        findings.note("search: the current data", (found != assigned).then_some(outdated));
    }
    if findings.imported_at.is_none() {
        let live = functions_at(Serving::Live, account, &invocation)?;
        check_that_nobody_has_data(&mut findings, &live).await;
    }
    Ok(findings)
}

/// Compares new versions without data with the live ones: the new ones may read another table. A live version that does
/// not answer proves nothing, and may be what the new one fixes.
async fn check_that_nobody_has_data(findings: &mut Findings, live: &Functions) {
    let Check { request, expectation } = health();
    let Ok(answer) = live.answer_to(&request).await else { return };
    if expectation.compare(&answer).is_ok() {
        let serving = answer.body["last_ingestion"].as_str();
        let error = serving.map(|at| {
            let expected = format!("{at}, as of the version that serves");
            must_be("/last_ingestion", expected, Value::Null)
        });
        findings.note("status: the data of the version that serves", error);
    }
}

fn must_be(field: &'static str, expected: impl ToString, actual: Value) -> CheckError {
    CheckError::Field { field, expected: expected.to_string(), actual }
}

/// Checks the live versions, and the API if its URL is known, and writes the metrics.
async fn check_service(request: Request, invocation: Invocation) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    let api = match &request.base_url {
        None => None,
        Some(base_url) => {
            let invalid = |_| format!("base_url must be an address, got '{base_url}'");
            let address = base_url.parse().map_err(invalid)?;
            let secrets = OriginSecrets::parse(&variable("ORIGIN_SECRET").unwrap_or_default());
            let secret = secret_for(&address, &secrets, account.region());
            Some(HttpApi::new(base_url, secret, invocation.deadline)?)
        }
    };
    let mut findings = check_all(&functions_at(Serving::Live, account, &invocation)?).await;
    if let Some(api) = api {
        findings.add(check_api(&api).await);
    }
    let function = variable("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    println!("{}", findings.line_with_metrics(&function, Timestamp::now()));
    Ok(findings)
}

/// The functions, each at its newest or live version.
fn functions_at(
    serving: Serving,
    account: AwsAccount,
    invocation: &Invocation,
) -> Result<Functions, Error> {
    let targets = targets(serving, variable)?;
    let Invocation { id, deadline } = invocation.clone();
    Ok(Functions { account, targets, request_id: id, deadline })
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// The deadline of the checks, which leaves time for the report. Lambda states its limit in milliseconds since 1970;
/// `cargo lambda watch` sends one that has passed.
fn time_for_checks(milliseconds: u64) -> Instant {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let left = end.duration_since(SystemTime::now()).ok();
    Instant::now() + left.map_or(CHECKS_TIMEOUT, |left| left.saturating_sub(REPORT_TIME))
}
