//! The Lambda function around the checks: its time, its log line, and what it answers.

use std::{
    env,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lambda_runtime::{Error, LambdaEvent};
use logging::with_causes;
use serde_json::Value;
use shared::auth::OriginSecrets;
use signed_requests::{AccountError, AwsAccount};
use tokio::time::Instant;

use crate::{
    checks::{check_functions, check_that_nobody_has_data},
    deployment::{REPORT_TIME, Verdict, report},
    event::{Deployment, Event, Request},
    findings::Findings,
    functions::Functions,
    public_api::{ApiError, PublicApi},
    targets::{NoVersion, Serving, Targets},
};

/// How long the checks take at most if Lambda does not tell its limit.
const LONGEST_CHECKS: Duration = Duration::from_secs(50);

/// Why the probe cannot check anything.
#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error(transparent)]
    Targets(#[from] NoVersion),
    #[error(transparent)]
    Account(#[from] AccountError),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("the checks have ended before they were done")]
    Died(#[from] tokio::task::JoinError),
}

/// An invocation: what its requests are called in the access log, and when it must be done.
#[derive(Clone)]
struct Invocation {
    id: String,
    deadline: Instant,
}

/// Checks what the event asks for, and answers with the findings.
pub async fn handle(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    let deadline = time_for_checks(context.deadline);
    let invocation = Invocation { id: context.request_id, deadline };
    let findings = match Event::parse(payload).map_err(|error| with_causes(&error))? {
        Event::Deployment(deployment) => answer_codedeploy(deployment, invocation).await,
        Event::Request(request) => check_service(request, invocation).await,
    };
    Ok(serde_json::to_value(findings.map_err(|error| with_causes(&*error))?)?)
}

/// Checks the new versions and tells CodeDeploy the verdict, which is that they failed if the probe
/// itself does.
async fn answer_codedeploy(
    deployment: Deployment,
    invocation: Invocation,
) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    // In a task of its own, so that CodeDeploy is told even of a panic.
    let checks = tokio::spawn(check_new_versions(account.clone(), invocation)).await;
    let findings = checks.map_err(ProbeError::from).and_then(std::convert::identity);
    let verdict = match &findings {
        Ok(findings) if findings.are_good() => Verdict::Succeeded,
        _ => Verdict::Failed,
    };
    if let Ok(findings) = &findings {
        println!("{}", findings.line());
    }
    report(&account, &deployment, verdict).await?;
    Ok(findings?)
}

async fn check_new_versions(
    account: AwsAccount,
    invocation: Invocation,
) -> Result<Findings, ProbeError> {
    let next = functions_at(Serving::Next, account.clone(), &invocation)?;
    let mut findings = check_functions(&next, Serving::Next).await;
    if findings.imported_at.is_none() {
        let live = functions_at(Serving::Live, account, &invocation)?;
        check_that_nobody_has_data(&mut findings, &live).await;
    }
    Ok(findings)
}

/// Checks the versions that serve, and the API if its address is known, and writes the metrics.
async fn check_service(request: Request, invocation: Invocation) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    let findings = check_live(account, request, &invocation).await?;
    let function = variable("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    println!("{}", findings.line_with_metrics(&function, Timestamp::now()));
    Ok(findings)
}

async fn check_live(
    account: AwsAccount,
    request: Request,
    invocation: &Invocation,
) -> Result<Findings, ProbeError> {
    let secrets = OriginSecrets::of(&variable("ORIGIN_SECRET").unwrap_or_default());
    let region = account.region().to_owned();
    let api = request.base_url.as_deref();
    let api =
        api.map(|url| PublicApi::at(url, &secrets, &region, invocation.deadline)).transpose()?;
    let functions = functions_at(Serving::Live, account, invocation)?;
    let mut findings = check_functions(&functions, Serving::Live).await;
    if let Some(api) = api {
        findings.add(api.check().await);
    }
    Ok(findings)
}

/// The functions, each at its newest version or at the one that serves.
fn functions_at(
    serving: Serving,
    account: AwsAccount,
    invocation: &Invocation,
) -> Result<Functions, ProbeError> {
    let targets = Targets::of(serving, variable)?;
    let Invocation { id, deadline } = invocation.clone();
    Ok(Functions { account, targets, request_id: id, deadline })
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// When the checks must be done so that time is left for the report. Lambda tells its limit in
/// milliseconds since 1970; `cargo lambda watch` tells one that has passed.
fn time_for_checks(milliseconds: u64) -> Instant {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let left = end.duration_since(SystemTime::now()).ok();
    Instant::now() + left.map_or(LONGEST_CHECKS, |left| left.saturating_sub(REPORT_TIME))
}
