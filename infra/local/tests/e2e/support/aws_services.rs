//! A stand-in for the AWS services that the probe calls: CodeDeploy, and Lambda functions on a test
//! database.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use shared::state::App;
use tnr::functions;
use tokio::sync::Semaphore;

use super::{aws_account::serve, function_calls::answer_of};

/// Run time of a function where concurrency is limited.
const RUN_TIME: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behavior {
    Right,
    /// Answers 500, as after a panic.
    InternalError,
    Silent,
    /// Exits before it answers.
    Dead,
    /// Answers with a wrong OCN.
    WrongData,
    /// Does not exist.
    Deleted,
}

#[derive(Debug, Clone)]
pub struct Invoked {
    pub function: String,
    /// The version or alias.
    pub qualifier: String,
    pub event: Value,
}

/// The running stand-in; it ends with the test's runtime.
#[derive(Clone)]
pub struct AwsServices {
    pub endpoint: String,
    state: Arc<Mutex<AwsState>>,
}

/// State that tests can change, and the calls received.
pub struct AwsState {
    app: App,
    /// The data of new versions, if it differs.
    pub app_of_new_versions: Option<App>,
    /// The misbehaving function.
    pub misbehaving: (&'static str, Behavior),
    /// CodeDeploy calls that are still to fail.
    pub failing_reports: u32,
    /// The concurrency limit; `None` for unlimited.
    pub concurrency: Option<Arc<Semaphore>>,
    /// The number of throttled invocations.
    pub throttled: usize,
    pub invoked: Vec<Invoked>,
    pub reports: Vec<Value>,
}

/// The ARN of a function's first version.
pub fn version_arn(function: &str) -> String {
    format!("arn:aws:lambda:us-east-1:123456789012:function:numbers-{function}:7")
}

impl AwsServices {
    /// Functions that answer like `app`.
    pub async fn on(app: App) -> Self {
        let state = Arc::new(Mutex::new(AwsState {
            app,
            app_of_new_versions: None,
            misbehaving: ("", Behavior::Right),
            failing_reports: 0,
            concurrency: None,
            throttled: 0,
            invoked: Vec::new(),
            reports: Vec::new(),
        }));
        let router = Router::new()
            .route("/2015-03-31/functions/{arn}/invocations", post(invoke))
            .route("/", post(report))
            .with_state(Arc::clone(&state));
        Self { endpoint: serve(router).await, state }
    }

    pub fn state(&self) -> MutexGuard<'_, AwsState> {
        self.state.lock().unwrap()
    }
}

async fn invoke(
    State(state): State<Arc<Mutex<AwsState>>>,
    Path(arn): Path<String>,
    headers: HeaderMap,
    Json(event): Json<Value>,
) -> Response {
    assert_signed(&headers, "lambda");
    let concurrency = state.lock().unwrap().concurrency.clone();
    let _running = match concurrency.map(Semaphore::try_acquire_owned) {
        None => None,
        Some(Ok(permit)) => {
            tokio::time::sleep(RUN_TIME).await;
            Some(permit)
        }
        Some(Err(_)) => {
            state.lock().unwrap().throttled += 1;
            let message = json!({ "Reason": "ConcurrentInvocationLimitExceeded", "Type": "User" });
            return (StatusCode::TOO_MANY_REQUESTS, Json(message)).into_response();
        }
    };
    let (rest, qualifier) = arn.rsplit_once(':').unwrap();
    let function = rest.rsplit_once("function:numbers-").unwrap().1.to_owned();
    let (_, routes) = functions().into_iter().find(|(name, _)| *name == function).unwrap();
    let invoked = Invoked { function, qualifier: qualifier.to_owned(), event: event.clone() };
    let (behavior, app) = {
        let mut state = state.lock().unwrap();
        let (misbehaving, behavior) = state.misbehaving;
        let behavior = if misbehaving == invoked.function { behavior } else { Behavior::Right };
        let of_new_versions = state.app_of_new_versions.as_ref().filter(|_| qualifier != "live");
        let app = of_new_versions.unwrap_or(&state.app).clone();
        state.invoked.push(invoked);
        (behavior, app)
    };
    let not_found = json!({ "Type": "User", "Message": format!("Function not found: {arn}") });
    let killed = json!({
        "errorType": "Runtime.ExitError",
        "errorMessage": "RequestId: 1 Error: Runtime exited with error: signal: killed",
    });
    let internal_error = json!({
        "statusCode": 500, "headers": {}, "isBase64Encoded": false,
        "body": json!({ "error": "internal_error", "message": "x" }).to_string(),
    });
    match behavior {
        Behavior::Silent => std::future::pending().await,
        Behavior::Deleted => (StatusCode::NOT_FOUND, Json(not_found)).into_response(),
        Behavior::Dead => ([("x-amz-function-error", "Unhandled")], Json(killed)).into_response(),
        Behavior::InternalError => Json(internal_error).into_response(),
        Behavior::Right => Json(answer_of(routes, app, &event).await.payload()).into_response(),
        Behavior::WrongData => {
            let mut payload = answer_of(routes, app, &event).await.payload();
            payload["body"] = with_other_ocns(payload["body"].as_str().unwrap()).into();
            Json(payload).into_response()
        }
    }
}

/// The body with every OCN replaced by the same one.
fn with_other_ocns(body: &str) -> String {
    let mut parts = body.split("\"ocn\":\"");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| format!("\"ocn\":\"ZZZZ{}", &part[4..])).collect::<String>()
}

async fn report(
    State(state): State<Arc<Mutex<AwsState>>>,
    headers: HeaderMap,
    body: String,
) -> Response {
    assert_signed(&headers, "codedeploy");
    let operation = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
    assert_eq!(headers["x-amz-target"], operation);
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    let mut state = state.lock().unwrap();
    if state.failing_reports > 0 {
        state.failing_reports -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let report: Value = serde_json::from_str(&body).unwrap();
    let id = report["lifecycleEventHookExecutionId"].clone();
    state.reports.push(report);
    Json(json!({ "lifecycleEventHookExecutionId": id })).into_response()
}

fn assert_signed(headers: &HeaderMap, service: &str) {
    let authorization = headers["authorization"].to_str().unwrap();
    assert!(
        authorization.contains(&format!("/us-east-1/{service}/aws4_request")),
        "{authorization}"
    );
}
