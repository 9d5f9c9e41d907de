//! The Lambda function that runs the checks.

use std::{
    env,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lambda_runtime::{Context, Error, LambdaEvent};
use logging::with_causes;
use serde_json::{Value, json};
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
    http_api::{HttpApi, check_api},
    targets::{Versions, targets},
};

const CHECKS_TIMEOUT: Duration = Duration::from_secs(50);

pub async fn handle(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    let findings = match Event::parse(payload)? {
        Event::Deployment(deployment) => report_to_codedeploy(deployment, context).await,
        Event::Request(request) => check_service(request, &context).await,
    };
    Ok(findings.map_err(|error| with_causes(&*error))?.summary())
}

/// Checks the new versions and reports the result to CodeDeploy. If the probe itself fails, so does the deployment.
async fn report_to_codedeploy(deployment: Deployment, context: Context) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    // A separate task, so that even a panic is reported.
    let checks = tokio::spawn(check_new_versions(account.clone(), context)).await;
    let findings = checks.map_err(Error::from).and_then(std::convert::identity);
    let succeeded = findings.as_ref().is_ok_and(Findings::all_passed);
    if let Ok(findings) = &findings {
        println!("{}", findings.line());
    }
    report(&account, &deployment, succeeded).await?;
    findings
}

async fn check_new_versions(account: AwsAccount, context: Context) -> Result<Findings, Error> {
    let new = functions_at(Versions::New, account.clone(), &context)?;
    let mut findings = check_all(&new).await;
    // Live versions are not compared: their data may differ for a minute after an import.
    if let (Some(expected), Some(found)) = (findings.stats_total, findings.search_total) {
        let outdated = must_be("/pagination/total", expected, json!(found));
        findings
            .record_comparison("search: the current data", (found != expected).then_some(outdated));
    }
    if findings.imported_at.is_none() {
        let live = functions_at(Versions::Live, account, &context)?;
        check_live_versions_are_empty(&mut findings, &live).await;
    }
    Ok(findings)
}

/// Checks that the live versions have no data either, since new versions without data may read the wrong table.
async fn check_live_versions_are_empty(findings: &mut Findings, live: &Functions) {
    let Check { request, expectation } = health();
    let Ok(response) = live.send(&request).await else { return };
    if expectation.compare(&response).is_ok() {
        let live = response.body["last_ingestion"].as_str();
        let error = live.map(|at| {
            let expected = format!("{at}, as in the live version");
            must_be("/last_ingestion", expected, Value::Null)
        });
        findings.record_comparison("status: the live version's data", error);
    }
}

fn must_be(field: &'static str, expected: impl ToString, actual: Value) -> CheckError {
    CheckError::Field { field, expected: expected.to_string(), actual }
}

async fn check_service(request: Request, context: &Context) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    let api = match &request.base_url {
        None => None,
        Some(base_url) => Some(HttpApi::new(base_url, checks_deadline(context.deadline))?),
    };
    let mut findings = check_all(&functions_at(Versions::Live, account, context)?).await;
    if let Some(api) = api {
        findings.extend(check_api(&api).await);
    }
    let function = variable("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    println!("{}", findings.line_with_metrics(&function, Timestamp::now()));
    Ok(findings)
}

fn functions_at(
    versions: Versions,
    account: AwsAccount,
    context: &Context,
) -> Result<Functions, Error> {
    let (request_id, deadline) = (context.request_id.clone(), checks_deadline(context.deadline));
    Ok(Functions { account, targets: targets(versions, variable)?, request_id, deadline })
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// The deadline for the checks, which leaves time to report. Lambda sends milliseconds; `cargo lambda watch` sends 0.
fn checks_deadline(milliseconds: u64) -> Instant {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let left = end.duration_since(SystemTime::now()).ok();
    Instant::now() + left.map_or(CHECKS_TIMEOUT, |left| left.saturating_sub(REPORT_TIME))
}
