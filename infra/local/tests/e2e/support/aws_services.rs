//! A stand-in for the services of AWS that the probe calls: Lambda, whose functions answer on a database
//! of the test, and CodeDeploy.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
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
use tokio::{net::TcpListener, sync::Semaphore};

use super::function_calls::answer_of;

/// How long a function runs where concurrency is limited.
const RUN_TIME: Duration = Duration::from_millis(50);

/// How a function behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behavior {
    Right,
    /// Answers 500 as it does after a panic.
    InternalError,
    /// Never answers.
    Silent,
    /// Ends before it has answered.
    Dead,
    /// Answers with another OCN than the right one.
    WrongData,
    /// Is no longer there.
    Deleted,
}

/// An invocation of a function.
#[derive(Debug, Clone)]
pub struct Invoked {
    pub function: String,
    /// The version or the alias.
    pub qualifier: String,
    pub event: Value,
}

/// The running stand-in; it ends with the runtime of the test.
#[derive(Clone)]
pub struct AwsServices {
    pub endpoint: String,
    state: Arc<AwsState>,
}

struct AwsState {
    app: App,
    /// What new versions answer from, if that is something else.
    app_of_new_versions: Mutex<Option<App>>,
    /// The function that does not behave, and how.
    misbehaving: Mutex<(&'static str, Behavior)>,
    /// How many calls CodeDeploy still fails to answer.
    failing_reports: Mutex<u32>,
    /// How many functions can run at once, and how long each takes; `None` if any number can.
    concurrency: Mutex<Option<Arc<Semaphore>>>,
    throttled: AtomicUsize,
    invoked: Mutex<Vec<Invoked>>,
    reports: Mutex<Vec<Value>>,
}

/// The ARN of the first version of a function.
pub fn version_arn(function: &str) -> String {
    format!("arn:aws:lambda:us-east-1:123456789012:function:numbers-{function}:7")
}

impl AwsServices {
    /// Functions that answer as `app` does.
    pub async fn on(app: App) -> Self {
        let state = Arc::new(AwsState {
            app,
            app_of_new_versions: Mutex::default(),
            misbehaving: Mutex::new(("", Behavior::Right)),
            failing_reports: Mutex::default(),
            concurrency: Mutex::default(),
            throttled: AtomicUsize::new(0),
            invoked: Mutex::default(),
            reports: Mutex::default(),
        });
        let router = Router::new()
            .route("/2015-03-31/functions/{arn}/invocations", post(invoke))
            .route("/", post(report))
            .with_state(Arc::clone(&state));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { endpoint, state }
    }

    /// Lets one function behave in another way, and all others as they should.
    pub fn let_behave(&self, function: &'static str, behavior: Behavior) {
        *self.state.misbehaving.lock().unwrap() = (function, behavior);
    }

    /// Lets new versions answer from something else than those that serve.
    pub fn let_new_versions_use(&self, app: App) {
        *self.state.app_of_new_versions.lock().unwrap() = Some(app);
    }

    /// Lets CodeDeploy fail so many times.
    pub fn fail_reports(&self, times: u32) {
        *self.state.failing_reports.lock().unwrap() = times;
    }

    /// Lets so many functions run at once, each for [`RUN_TIME`] at least.
    pub fn limit_concurrency(&self, functions: usize) {
        *self.state.concurrency.lock().unwrap() = Some(Arc::new(Semaphore::new(functions)));
    }

    /// How many invocations were refused for want of concurrency since the last time.
    pub fn take_throttled(&self) -> usize {
        self.state.throttled.swap(0, Ordering::Relaxed)
    }

    /// The invocations since the last time that they were taken.
    pub fn take_invoked(&self) -> Vec<Invoked> {
        std::mem::take(&mut self.state.invoked.lock().unwrap())
    }

    /// What CodeDeploy was told since the last time that it was taken.
    pub fn take_reports(&self) -> Vec<Value> {
        std::mem::take(&mut self.state.reports.lock().unwrap())
    }
}

async fn invoke(
    State(state): State<Arc<AwsState>>,
    Path(arn): Path<String>,
    headers: HeaderMap,
    Json(event): Json<Value>,
) -> Response {
    assert_signed(&headers, "lambda");
    let concurrency = state.concurrency.lock().unwrap().clone();
    let _running = match concurrency.map(Semaphore::try_acquire_owned) {
        None => None,
        Some(Ok(permit)) => {
            tokio::time::sleep(RUN_TIME).await;
            Some(permit)
        }
        Some(Err(_)) => {
            state.throttled.fetch_add(1, Ordering::Relaxed);
            let message = json!({ "Reason": "ConcurrentInvocationLimitExceeded", "Type": "User" });
            return (StatusCode::TOO_MANY_REQUESTS, Json(message)).into_response();
        }
    };
    let (rest, qualifier) = arn.rsplit_once(':').unwrap();
    let function = rest.rsplit_once("function:numbers-").unwrap().1.to_owned();
    let (misbehaving, behavior) = *state.misbehaving.lock().unwrap();
    let behavior = if misbehaving == function { behavior } else { Behavior::Right };
    let (_, routes) = functions().into_iter().find(|(name, _)| *name == function).unwrap();
    let invoked = Invoked { function, qualifier: qualifier.to_owned(), event: event.clone() };
    state.invoked.lock().unwrap().push(invoked);
    let mut payload = match behavior {
        Behavior::Silent => std::future::pending().await,
        Behavior::Deleted => {
            let message =
                json!({ "Type": "User", "Message": format!("Function not found: {arn}") });
            return (StatusCode::NOT_FOUND, Json(message)).into_response();
        }
        Behavior::Dead => {
            let message = json!({
                "errorType": "Runtime.ExitError",
                "errorMessage": "RequestId: 1 Error: Runtime exited with error: signal: killed",
            });
            return ([("x-amz-function-error", "Unhandled")], Json(message)).into_response();
        }
        Behavior::InternalError => json!({
            "statusCode": 500, "headers": {}, "isBase64Encoded": false,
            "body": json!({ "error": "internal_error", "message": "x" }).to_string(),
        }),
        Behavior::Right | Behavior::WrongData => {
            let of_new_versions = state.app_of_new_versions.lock().unwrap().clone();
            let app = of_new_versions.filter(|_| qualifier != "live");
            answer_of(routes, app.unwrap_or_else(|| state.app.clone()), &event).await.payload()
        }
    };
    if behavior == Behavior::WrongData {
        let body = payload["body"].as_str().unwrap();
        payload["body"] = with_other_ocns(body).into();
    }
    Json(payload).into_response()
}

/// The body with the same OCN in each place that has one.
fn with_other_ocns(body: &str) -> String {
    fn replace(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if name == "ocn" && value.is_string() {
                        *value = json!("ZZZZ");
                    }
                    replace(value);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(replace),
            _ => (),
        }
    }
    let mut body: Value = serde_json::from_str(body).unwrap();
    replace(&mut body);
    body.to_string()
}

async fn report(State(state): State<Arc<AwsState>>, headers: HeaderMap, body: String) -> Response {
    assert_signed(&headers, "codedeploy");
    let operation = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
    assert_eq!(headers["x-amz-target"], operation);
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    let mut failing = state.failing_reports.lock().unwrap();
    if *failing > 0 {
        *failing -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let report: Value = serde_json::from_str(&body).unwrap();
    let id = report["lifecycleEventHookExecutionId"].clone();
    state.reports.lock().unwrap().push(report);
    Json(json!({ "lifecycleEventHookExecutionId": id })).into_response()
}

/// Asserts that a request is signed for a service.
fn assert_signed(headers: &HeaderMap, service: &str) {
    let authorization = headers["authorization"].to_str().unwrap();
    assert!(
        authorization.contains(&format!("/us-east-1/{service}/aws4_request")),
        "{authorization}"
    );
}
