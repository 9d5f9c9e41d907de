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
use tokio::{sync::watch, time::timeout};

use super::{
    listening::serve,
    processes::{send_signal, wait_for_exit},
};

const EXTENSION_ID: &str = "5f2d0b3a-extension";
/// The time between an invocation and its deadline.
const INVOCATION_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum wait for the function to become idle or to respond.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The invocations, and the calls that a function and its extension have made.
#[derive(Default)]
struct Calls {
    accepts_extensions: bool,
    /// Each invocation's event. Its id is its position.
    events: Vec<Value>,
    event_requests: usize,
    is_extension_registered: bool,
    extension_requests: usize,
    /// Responses by invocation id.
    responses: HashMap<usize, Value>,
}

type SharedCalls = Arc<watch::Sender<Calls>>;

/// A function running under the stand-in.
pub struct LambdaFunction {
    pub process: Child,
    calls: SharedCalls,
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
        let calls = Calls { accepts_extensions, ..Calls::default() };
        let calls = Arc::new(watch::Sender::new(calls));
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_invocation))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(response))
            .route("/2020-01-01/extension/register", post(register))
            .route("/2020-01-01/extension/event/next", get(next_event))
            .with_state(Arc::clone(&calls));
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
        let function = Self { process: command.spawn().unwrap(), calls, concurrency };
        function.wait_until_idle().await;
        function
    }

    /// Returns `true` if the function has registered an extension.
    pub fn has_extension(&self) -> bool {
        self.calls.borrow().is_extension_registered
    }

    /// Waits until the function and its extension have requested their next event.
    pub async fn wait_until_idle(&self) {
        let mut calls = self.calls.subscribe();
        let idle = calls.wait_for(|calls| {
            calls.event_requests == calls.events.len() + self.concurrency
                && (!calls.is_extension_registered
                    || calls.extension_requests == calls.events.len() + 1)
        });
        timeout(MAX_WAIT, idle).await.expect("the function did not become idle").unwrap();
    }

    /// Resumes the function and returns its response to `event`.
    pub async fn invoke(&self, event: &Value) -> Value {
        let id = self.send_event(event);
        self.response(id).await
    }

    /// Resumes the function and sends it `event`. Returns the invocation id.
    pub fn send_event(&self, event: &Value) -> usize {
        self.thaw();
        self.calls.send_modify(|calls| calls.events.push(event.clone()));
        self.calls.borrow().events.len() - 1
    }

    /// The function's response to an invocation.
    pub async fn response(&self, id: usize) -> Value {
        let mut calls = self.calls.subscribe();
        let responded = calls.wait_for(|calls| calls.responses.contains_key(&id));
        let calls = timeout(MAX_WAIT, responded).await.expect("the function did not respond");
        calls.unwrap().responses[&id].clone()
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

async fn next_invocation(State(calls): State<SharedCalls>) -> Response {
    let (id, event) = next(&calls, |calls| &mut calls.event_requests).await;
    let headers = [
        ("lambda-runtime-aws-request-id", id.to_string()),
        ("lambda-runtime-deadline-ms", deadline().to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:x:1:function:npa".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    (headers, event.to_string()).into_response()
}

/// Counts a request for the next event, and returns the event with its invocation id once there is one.
async fn next(calls: &SharedCalls, requests: fn(&mut Calls) -> &mut usize) -> (usize, Value) {
    let mut id = 0;
    calls.send_modify(|calls| {
        id = *requests(calls);
        *requests(calls) += 1;
    });
    let mut calls = calls.subscribe();
    let calls = calls.wait_for(|calls| calls.events.len() > id).await.unwrap();
    (id, calls.events[id].clone())
}

async fn response(
    State(calls): State<SharedCalls>,
    Path(id): Path<usize>,
    body: String,
) -> StatusCode {
    let response = serde_json::from_str(&body).unwrap();
    calls.send_modify(|calls| _ = calls.responses.insert(id, response));
    StatusCode::ACCEPTED
}

async fn register(State(calls): State<SharedCalls>) -> Response {
    if !calls.borrow().accepts_extensions {
        return StatusCode::FORBIDDEN.into_response();
    }
    calls.send_modify(|calls| calls.is_extension_registered = true);
    let body = json!({ "functionName": "npa", "functionVersion": "1", "handler": "bootstrap" });
    ([("lambda-extension-identifier", EXTENSION_ID)], body.to_string()).into_response()
}

async fn next_event(State(calls): State<SharedCalls>, headers: HeaderMap) -> String {
    assert_eq!(headers["lambda-extension-identifier"], EXTENSION_ID);
    let (id, _) = next(&calls, |calls| &mut calls.extension_requests).await;
    let event = json!({
        "eventType": "INVOKE", "deadlineMs": deadline(), "requestId": id.to_string(),
        "invokedFunctionArn": "arn:aws:lambda:x:1:function:npa",
        "tracing": { "type": "X-Amzn-Trace-Id", "value": "Root=1-0" }
    });
    event.to_string()
}
