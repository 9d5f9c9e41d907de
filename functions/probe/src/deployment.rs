//! Reports to CodeDeploy, which then moves the traffic to the new versions or rolls back.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use logging::with_causes;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use signed_requests::{AwsAccount, CallError, Service};

const OPERATION: &str = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
const CALL_TIMEOUT: Duration = Duration::from_secs(2);
/// Retries twice, after about half a second and a second.
const RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(500))
    .with_max_times(2)
    .with_jitter();
pub const REPORT_TIME: Duration = Duration::from_secs(10);

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
    /// Tells CodeDeploy whether the new versions may take over. Without a report, it would wait for an hour.
    pub async fn report(&self, account: &AwsAccount, succeeded: bool) -> Result<(), CallError> {
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
