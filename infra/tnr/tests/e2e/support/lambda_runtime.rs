//! A stand-in for Lambda's runtime and extensions APIs. Like Lambda, it freezes the function once both the
//! function and its extension have requested their next event.

use std::{
    collections::HashMap,
    process::{Child, Command},
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex, mpsc, watch},
    time::timeout,
};

use super::{
    listening::serve,
    processes::{send_signal, wait_for_exit},
};

const EXTENSION_ID: &str = "5f2d0b3a-extension";
/// The time between an invocation and its deadline.
const INVOCATION_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum wait for the function to become idle or to respond.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The calls that a function and its extension have made: requests for the next event, and responses.
#[derive(Default)]
struct Calls {
    event_requests: usize,
    is_extension_registered: bool,
    extension_requests: usize,
    /// Responses by invocation id.
    responses: HashMap<String, Value>,
}

/// State shared by the stand-in's handlers and the test.
struct RuntimeState {
    /// Events for the function, and event ids for the extension.
    events: Mutex<mpsc::UnboundedReceiver<(String, Value)>>,
    notices: Mutex<mpsc::UnboundedReceiver<String>>,
    accepts_extensions: bool,
    calls: watch::Sender<Calls>,
}

/// A function running under the stand-in.
pub struct LambdaFunction {
    pub process: Child,
    state: Arc<RuntimeState>,
    invoke: mpsc::UnboundedSender<(String, Value)>,
    notify_extension: mpsc::UnboundedSender<String>,
    invocations: usize,
    /// The maximum number of concurrent requests.
    concurrency: usize,
}

impl LambdaFunction {
    /// Starts the process, and waits until it is ready.
    pub async fn start(command: Command) -> Self {
        Self::start_with(command, 1, true).await
    }

    /// Starts the process with several requests at a time, or with extensions refused.
    pub async fn start_with(
        mut command: Command,
        concurrency: usize,
        accepts_extensions: bool,
    ) -> Self {
        let (invoke, events) = mpsc::unbounded_channel();
        let (notify_extension, notices) = mpsc::unbounded_channel();
        let (events, notices) = (Mutex::new(events), Mutex::new(notices));
        let calls = watch::Sender::default();
        let state = Arc::new(RuntimeState { events, notices, accepts_extensions, calls });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_invocation))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(response))
            .route("/2020-01-01/extension/register", post(register))
            .route("/2020-01-01/extension/event/next", get(next_event))
            .with_state(Arc::clone(&state));
        let url = serve(router).await;
        command.envs([
            ("AWS_LAMBDA_RUNTIME_API", url.trim_start_matches("http://")),
            ("AWS_LAMBDA_FUNCTION_NAME", "stack-npa"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
        ]);
        if concurrency > 1 {
            command.env("AWS_LAMBDA_MAX_CONCURRENCY", concurrency.to_string());
        }
        let process = command.spawn().unwrap();
        let invocations = 0;
        let function = Self { process, state, invoke, notify_extension, invocations, concurrency };
        function.wait_until_idle().await;
        function
    }

    /// Returns `true` if the function has registered an extension.
    pub fn has_extension(&self) -> bool {
        self.state.calls.borrow().is_extension_registered
    }

    /// Waits until the function and its extension have requested their next event.
    pub async fn wait_until_idle(&self) {
        let mut calls = self.state.calls.subscribe();
        let idle = calls.wait_for(|calls| {
            calls.event_requests == self.invocations + self.concurrency
                && (!calls.is_extension_registered
                    || calls.extension_requests == self.invocations + 1)
        });
        timeout(MAX_WAIT, idle).await.expect("the function did not become idle").unwrap();
    }

    /// Resumes the function and returns its response to `event`.
    pub async fn invoke(&mut self, event: &Value) -> Value {
        let id = self.begin(event);
        self.response(&id).await
    }

    /// Resumes the function and sends it `event`. Returns the invocation id.
    pub fn begin(&mut self, event: &Value) -> String {
        self.thaw();
        self.invocations += 1;
        let id = format!("invocation-{}", self.invocations);
        if self.has_extension() {
            self.notify_extension.send(id.clone()).unwrap();
        }
        self.invoke.send((id.clone(), event.clone())).unwrap();
        id
    }

    /// The function's response to an invocation.
    pub async fn response(&self, id: &str) -> Value {
        let mut calls = self.state.calls.subscribe();
        let responded = calls.wait_for(|calls| calls.responses.contains_key(id));
        let calls = timeout(MAX_WAIT, responded).await.expect("the function did not respond");
        calls.unwrap().responses[id].clone()
    }

    pub async fn freeze(&self) {
        self.wait_until_idle().await;
        send_signal("STOP", &self.process);
    }

    pub fn thaw(&self) {
        send_signal("CONT", &self.process);
    }

    /// Resumes the function, then stops it: with SIGTERM if it has an extension or is never frozen, or with SIGKILL.
    pub async fn shut_down(mut self) {
        self.thaw();
        let is_notified = self.has_extension() || self.concurrency > 1;
        send_signal(if is_notified { "TERM" } else { "KILL" }, &self.process);
        wait_for_exit(&mut self.process).await;
    }
}

impl Drop for LambdaFunction {
    fn drop(&mut self) {
        // The process may already have exited.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The deadline for an invocation, in milliseconds since 1970.
fn deadline() -> u64 {
    let end = SystemTime::now() + INVOCATION_TIMEOUT;
    end.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64
}

async fn next_invocation(State(state): State<Arc<RuntimeState>>) -> Response {
    state.calls.send_modify(|calls| calls.event_requests += 1);
    let Some((id, event)) = state.events.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", deadline().to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:x:1:function:npa".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    (headers, event.to_string()).into_response()
}

async fn response(
    State(state): State<Arc<RuntimeState>>,
    Path(id): Path<String>,
    body: String,
) -> StatusCode {
    let response = serde_json::from_str(&body).unwrap();
    state.calls.send_modify(|calls| _ = calls.responses.insert(id, response));
    StatusCode::ACCEPTED
}

async fn register(State(state): State<Arc<RuntimeState>>) -> Response {
    if !state.accepts_extensions {
        return StatusCode::FORBIDDEN.into_response();
    }
    state.calls.send_modify(|calls| calls.is_extension_registered = true);
    let body = json!({ "functionName": "npa", "functionVersion": "1", "handler": "bootstrap" });
    ([("lambda-extension-identifier", EXTENSION_ID)], body.to_string()).into_response()
}

async fn next_event(State(state): State<Arc<RuntimeState>>, headers: HeaderMap) -> Response {
    assert_eq!(headers["lambda-extension-identifier"], EXTENSION_ID);
    state.calls.send_modify(|calls| calls.extension_requests += 1);
    let Some(id) = state.notices.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let event = json!({
        "eventType": "INVOKE", "deadlineMs": deadline(), "requestId": id,
        "invokedFunctionArn": "arn:aws:lambda:x:1:function:npa",
        "tracing": { "type": "X-Amzn-Trace-Id", "value": "Root=1-0" }
    });
    event.to_string().into_response()
}
