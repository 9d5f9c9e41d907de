//! A stand-in for the AWS services that the probe calls: Lambda functions and CodeDeploy.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use shared::state::App;

use super::{endpoints::routes_for, function_calls::response_to, service::serve};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misbehavior {
    /// Responds with 500, as after a panic.
    InternalError,
    Silent,
    /// Exits before it responds.
    Crashed,
    /// Responds without OCNs.
    WrongData,
}

#[derive(Debug, Clone)]
pub struct Invocation {
    pub function: String,
    /// The version or alias.
    pub qualifier: String,
    pub event: Value,
}

/// The running stand-in, which stops with the test's runtime.
#[derive(Clone)]
pub struct Aws {
    pub endpoint: String,
    state: Arc<Mutex<AwsState>>,
}

/// State that tests can change, and the calls received.
pub struct AwsState {
    app: App,
    /// The app that new versions serve, if it differs.
    pub new_version_app: Option<App>,
    pub misbehaving: Option<(&'static str, Misbehavior)>,
    /// The number of CodeDeploy calls yet to fail.
    pub failing_reports: u32,
    /// The number of invocations yet to throttle.
    pub throttled_calls: u32,
    pub invocations: Vec<Invocation>,
    pub reports: Vec<Value>,
}

/// The ARN of a function's first version.
pub fn version_arn(function: &str) -> String {
    format!("arn:aws:lambda:us-east-1:123456789012:function:numbers-{function}:7")
}

impl Aws {
    /// Functions that respond like `app`.
    pub async fn with_functions(app: App) -> Self {
        let state = Arc::new(Mutex::new(AwsState {
            app,
            new_version_app: None,
            misbehaving: None,
            failing_reports: 0,
            throttled_calls: 0,
            invocations: Vec::new(),
            reports: Vec::new(),
        }));
        let router = Router::new()
            .route("/2015-03-31/functions/{arn}/invocations", post(invoke))
            .route("/", post(receive_report))
            .with_state(Arc::clone(&state));
        Self { endpoint: serve(router).await, state }
    }

    /// Lets the functions respond like another app, and returns the app so far.
    pub fn replace_app(&self, app: App) -> App {
        mem::replace(&mut self.state().app, app)
    }

    pub fn state(&self) -> MutexGuard<'_, AwsState> {
        self.state.lock().unwrap()
    }
}

type Shared = State<Arc<Mutex<AwsState>>>;

fn assert_signed_for(headers: &HeaderMap, service: &str) {
    let authorization = headers[header::AUTHORIZATION].to_str().unwrap();
    let scope = format!("/us-east-1/{service}/aws4_request");
    assert!(authorization.contains(&scope), "{authorization}");
}

async fn invoke(
    State(state): Shared,
    Path(arn): Path<String>,
    headers: HeaderMap,
    Json(event): Json<Value>,
) -> Response {
    assert_signed_for(&headers, "lambda");
    let (rest, qualifier) = arn.rsplit_once(':').unwrap();
    let function = rest.rsplit_once("function:numbers-").unwrap().1.to_owned();
    let routes = routes_for(&function);
    let (misbehavior, app) = {
        let mut state = state.lock().unwrap();
        if state.throttled_calls > 0 {
            state.throttled_calls -= 1;
            let message = json!({ "Reason": "ConcurrentInvocationLimitExceeded", "Type": "User" });
            return (StatusCode::TOO_MANY_REQUESTS, message.to_string()).into_response();
        }
        let misbehavior = state.misbehaving.filter(|(name, _)| *name == function);
        let new_version = state.new_version_app.as_ref().filter(|_| qualifier != "live");
        let app = new_version.unwrap_or(&state.app).clone();
        let qualifier = qualifier.to_owned();
        state.invocations.push(Invocation { function, qualifier, event: event.clone() });
        (misbehavior.map(|(_, misbehavior)| misbehavior), app)
    };
    let payload = async || response_to(routes, app, &event).await.payload().to_string();
    match misbehavior {
        Some(Misbehavior::Silent) => std::future::pending().await,
        Some(Misbehavior::Crashed) => {
            let message = "RequestId: 1 Error: Runtime exited with error: signal: killed";
            let body = json!({ "errorType": "Runtime.ExitError", "errorMessage": message });
            ([("x-amz-function-error", "Unhandled")], body.to_string()).into_response()
        }
        Some(Misbehavior::InternalError) => {
            let body = json!({ "error": "internal_error", "message": "x" }).to_string();
            let payload =
                json!({ "statusCode": 500, "headers": {}, "isBase64Encoded": false, "body": body });
            payload.to_string().into_response()
        }
        Some(Misbehavior::WrongData) => {
            payload().await.replace("\\\"ocn\\\":", "\\\"x\\\":").into_response()
        }
        None => payload().await.into_response(),
    }
}

async fn receive_report(State(state): Shared, headers: HeaderMap, body: Bytes) -> Response {
    assert_signed_for(&headers, "codedeploy");
    let operation = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
    assert_eq!(headers["x-amz-target"], operation);
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    let mut state = state.lock().unwrap();
    if state.failing_reports > 0 {
        state.failing_reports -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    state.reports.push(serde_json::from_slice(&body).unwrap());
    "{}".into_response()
}
