//! The Lambda function that runs the checks. It reports the result to CodeDeploy, which then moves traffic to the new
//! versions or rolls back.

use std::{
    env,
    time::{Duration, SystemTime},
};

use backon::{ExponentialBuilder, Retryable};
use jiff::Timestamp;
use lambda_runtime::{Context, Error, LambdaEvent};
use logging::with_causes;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use signed_requests::{AwsAccount, CallError, Service};
use tokio::time::Instant;

use crate::{
    checks::{check_keyed, check_public, health},
    findings::Findings,
    functions::{Functions, HttpApi, Versions, check_api, targets},
    response::{Api, CheckError},
};

const CHECKS_TIMEOUT: Duration = Duration::from_secs(50);
const OPERATION: &str = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
const CALL_TIMEOUT: Duration = Duration::from_secs(2);
const RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(500))
    .with_max_times(2)
    .with_jitter();
const REPORT_TIME: Duration = Duration::from_secs(10);

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "the request must be a JSON object with no field other than base_url, such as \
                 {\"base_url\": \"https://api.example.com\"}"
)]
pub enum Event {
    Deployment(Deployment),
    Request(Request),
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The API's URL. Without it, only the functions are checked.
    base_url: Option<String>,
}

pub async fn handle(event: LambdaEvent<Option<Event>>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    let findings = match payload {
        Some(Event::Deployment(deployment)) => report_to_codedeploy(&deployment, context).await,
        Some(Event::Request(request)) => check_service(request, &context).await,
        None => check_service(Request::default(), &context).await,
    };
    Ok(findings.map_err(|error| with_causes(&*error))?.summary())
}

/// Checks the new versions and reports the result to CodeDeploy. If the probe itself fails, so does the deployment.
async fn report_to_codedeploy(
    deployment: &Deployment,
    context: Context,
) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    // A separate task, so that even a panic is reported.
    let checks = tokio::spawn(check_new_versions(account.clone(), context)).await;
    let findings = checks.map_err(Error::from).and_then(std::convert::identity);
    let succeeded = findings.as_ref().is_ok_and(Findings::all_passed);
    if let Ok(findings) = &findings {
        println!("{}", findings.line());
    }
    deployment.report(&account, succeeded).await?;
    findings
}

async fn check_functions(functions: &Functions) -> Findings {
    let mut findings = check_public(functions).await;
    check_keyed(functions, &mut findings).await;
    findings
}

async fn check_new_versions(account: AwsAccount, context: Context) -> Result<Findings, Error> {
    let mut findings = check_functions(&functions_for(Versions::New, &account, &context)?).await;
    if findings.imported_at.is_none() {
        let live = functions_for(Versions::Live, &account, &context)?;
        check_live_versions_are_empty(&mut findings, &live).await;
    }
    Ok(findings)
}

/// Checks that the live versions have no data either. Otherwise the new versions may read the wrong table.
async fn check_live_versions_are_empty(findings: &mut Findings, live: &Functions) {
    let (request, expectation) = health();
    let Ok(response) = live.send(&request).await else { return };
    if expectation.compare(&response).is_ok() {
        let live = response.body["last_ingestion"].as_str();
        let error = live.map(|at| {
            let (field, expected) = ("/last_ingestion".to_owned(), json!(at).to_string());
            CheckError::Field { field, expected, actual: "null".to_owned() }
        });
        findings.record_comparison("status: the live version's data", error);
    }
}

async fn check_service(request: Request, context: &Context) -> Result<Findings, Error> {
    let account = AwsAccount::from_env().await?;
    let mut findings = check_functions(&functions_for(Versions::Live, &account, context)?).await;
    if let Some(base_url) = &request.base_url {
        let api = HttpApi::new(base_url, None, checks_deadline(context.deadline))?;
        check_api(&api, &mut findings).await;
    }
    let function = env_var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    println!("{}", findings.line_with_metrics(&function, Timestamp::now()));
    Ok(findings)
}

fn functions_for(
    versions: Versions,
    account: &AwsAccount,
    context: &Context,
) -> Result<Functions, Error> {
    let (request_id, deadline) = (context.request_id.clone(), checks_deadline(context.deadline));
    let (account, targets) = (account.clone(), targets(versions, env_var)?);
    Ok(Functions { account, targets, request_id, deadline })
}

fn env_var(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// The deadline for the checks, with time left for the report. Lambda sends milliseconds; `cargo lambda watch` sends 0.
fn checks_deadline(milliseconds: u64) -> Instant {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let left = end.duration_since(SystemTime::now()).ok();
    Instant::now() + left.map_or(CHECKS_TIMEOUT, |left| left.saturating_sub(REPORT_TIME))
}

/// The event from a CodeDeploy [deployment
/// hook](https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html), which
/// waits for a report.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Deployment {
    deployment_id: String,
    lifecycle_event_hook_execution_id: String,
}

impl Deployment {
    /// Tells CodeDeploy whether the new versions may take over. Without a report, CodeDeploy would wait for an hour.
    async fn report(&self, account: &AwsAccount, succeeded: bool) -> Result<(), CallError> {
        let body = json!({
            "deploymentId": self.deployment_id,
            "lifecycleEventHookExecutionId": self.lifecycle_event_hook_execution_id,
            "status": if succeeded { "Succeeded" } else { "Failed" },
        });
        let body = body.to_string();
        let headers = [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", OPERATION)];
        let call = || {
            let body = body.clone().into_bytes();
            account.call(Service::CodeDeploy, Method::POST, "/", &headers, body, CALL_TIMEOUT)
        };
        let log = |error: &CallError, wait: Duration| {
            tracing::warn!(error = with_causes(error), ?wait, "retrying the report to CodeDeploy");
        };
        call.retry(RETRIES).when(is_transient).notify(log).await.map(|_| ())
    }
}

fn is_transient(error: &CallError) -> bool {
    match error {
        CallError::Transport { .. } => true,
        CallError::Refused { status, body, .. } => {
            status.is_server_error() || body.contains("Throttling")
        }
        CallError::Signing(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_events_differ_from_requests_and_unknown_fields_are_rejected() {
        let parse = |payload: Value| serde_json::from_value::<Option<Event>>(payload);
        let hook = json!({ "DeploymentId": "d-1", "LifecycleEventHookExecutionId": "eyJ" });
        assert!(matches!(parse(hook).unwrap(), Some(Event::Deployment(_))));
        assert_eq!(parse(Value::Null).unwrap(), None);
        let base_url = Some("https://api.example.com".to_owned());
        for base_url in [None, base_url] {
            let request = Event::Request(Request { base_url: base_url.clone() });
            assert_eq!(parse(json!({ "base_url": base_url })).unwrap(), Some(request));
        }
        for invalid in [json!({ "baseUrl": "x" }), json!("x"), json!({ "DeploymentId": "d-1" })] {
            let error = parse(invalid).unwrap_err().to_string();
            assert!(error.starts_with("the request must be a JSON object"), "{error}");
        }
    }
}
