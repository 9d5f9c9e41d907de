//! A stand-in for the API that Lambda offers a function and its extension. It freezes the function
//! as Lambda does: once both have asked for their next event.

use std::{
    collections::HashMap,
    net::Ipv4Addr,
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
    net::TcpListener,
    sync::{Mutex, mpsc, watch},
    time::timeout,
};

use super::processes::{send_signal, until_ended};

/// The variable by which Lambda tells a function how many requests it may take at once.
pub const MAX_CONCURRENCY: &str = "AWS_LAMBDA_MAX_CONCURRENCY";
const EXTENSION_ID: &str = "5f2d0b3a-extension";
/// The time for an invocation, by the deadline that the function is given.
const INVOCATION_TIMEOUT: Duration = Duration::from_secs(60);
/// The time in which the function has to become idle or to respond.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The answer to an extension that registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    Accepted,
    Refused,
}

/// The calls of a function and its extension so far: requests for the next event, and responses.
#[derive(Default)]
struct Calls {
    asked: usize,
    is_extension_registered: bool,
    extension_asked: usize,
    responses: HashMap<String, Value>,
}

/// The state that the handlers of the stand-in share with the test.
struct RuntimeState {
    registration: Registration,
    /// The events for the function, and the ids of those for the extension.
    events: Mutex<mpsc::UnboundedReceiver<(String, Value)>>,
    notices: Mutex<mpsc::UnboundedReceiver<String>>,
    calls: watch::Sender<Calls>,
}

/// A function that runs under the stand-in.
pub struct LambdaFunction {
    process: Child,
    state: Arc<RuntimeState>,
    invoke: mpsc::UnboundedSender<(String, Value)>,
    notify_extension: mpsc::UnboundedSender<String>,
    invocations: usize,
    /// The number of requests that the function may take at once.
    at_once: usize,
}

impl LambdaFunction {
    /// Starts the process that `command` describes, and waits until it is ready.
    pub async fn start(mut command: Command, registration: Registration) -> Self {
        let (invoke, events) = mpsc::unbounded_channel();
        let (notify_extension, notices) = mpsc::unbounded_channel();
        let (events, notices) = (Mutex::new(events), Mutex::new(notices));
        let calls = watch::Sender::default();
        let state = Arc::new(RuntimeState { registration, events, notices, calls });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_invocation))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(response))
            .route("/2020-01-01/extension/register", post(register))
            .route("/2020-01-01/extension/event/next", get(next_event))
            .with_state(Arc::clone(&state));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        command
            .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", "stack-npa")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1");
        let mut variables = command.get_envs();
        let concurrency = variables.find(|(name, _)| *name == MAX_CONCURRENCY);
        let at_once = concurrency.and_then(|(_, most)| most?.to_str()?.parse().ok()).unwrap_or(1);
        let process = command.spawn().unwrap();
        let function = Self { process, state, invoke, notify_extension, invocations: 0, at_once };
        function.until_idle().await;
        function
    }

    /// Returns `true` if the function has registered an extension.
    pub fn has_extension(&self) -> bool {
        self.state.calls.borrow().is_extension_registered
    }

    /// Waits until function and extension have asked for their next event.
    async fn until_idle(&self) {
        let mut calls = self.state.calls.subscribe();
        let idle = calls.wait_for(|calls| {
            calls.asked == self.invocations + self.at_once
                && (!calls.is_extension_registered || calls.extension_asked == self.invocations + 1)
        });
        timeout(MAX_WAIT, idle).await.expect("the function does not become idle").unwrap();
    }

    /// Thaws the function and gives its response to `event`.
    pub async fn invoke(&mut self, event: &Value) -> Value {
        let id = self.begin(event);
        self.response(&id).await
    }

    /// Thaws the function and sends it `event`. Returns the id of the invocation.
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

    /// The response of the function to an invocation.
    pub async fn response(&self, id: &str) -> Value {
        let mut calls = self.state.calls.subscribe();
        let responded = calls.wait_for(|calls| calls.responses.contains_key(id));
        let calls = timeout(MAX_WAIT, responded).await.expect("the function does not respond");
        calls.unwrap().responses[id].clone()
    }

    /// Freezes the function once it is idle.
    pub async fn freeze(&self) {
        self.until_idle().await;
        send_signal("STOP", &self.process);
    }

    /// Lets a frozen function continue.
    pub fn thaw(&self) {
        send_signal("CONT", &self.process);
    }

    /// Thaws the function and ends it, with a warning if it has an extension or is never frozen.
    pub async fn shut_down(mut self) {
        self.thaw();
        let is_warned = self.has_extension() || self.at_once > 1;
        send_signal(if is_warned { "TERM" } else { "KILL" }, &self.process);
        until_ended(&mut self.process).await;
    }
}

impl Drop for LambdaFunction {
    fn drop(&mut self) {
        // A process that has ended by itself is no longer there to be killed.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The end of an invocation, in milliseconds since 1970.
fn deadline() -> u128 {
    let end = SystemTime::now() + INVOCATION_TIMEOUT;
    end.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()
}

async fn next_invocation(State(state): State<Arc<RuntimeState>>) -> Response {
    state.calls.send_modify(|calls| calls.asked += 1);
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
    if state.registration == Registration::Refused {
        return StatusCode::FORBIDDEN.into_response();
    }
    state.calls.send_modify(|calls| calls.is_extension_registered = true);
    let body = json!({ "functionName": "npa", "functionVersion": "1", "handler": "bootstrap" });
    ([("lambda-extension-identifier", EXTENSION_ID)], body.to_string()).into_response()
}

async fn next_event(State(state): State<Arc<RuntimeState>>, headers: HeaderMap) -> Response {
    assert_eq!(headers["lambda-extension-identifier"], EXTENSION_ID);
    state.calls.send_modify(|calls| calls.extension_asked += 1);
    let Some(id) = state.notices.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let event = json!({
        "eventType": "INVOKE", "deadlineMs": deadline() as u64, "requestId": id,
        "invokedFunctionArn": "arn:aws:lambda:x:1:function:npa",
        "tracing": { "type": "X-Amzn-Trace-Id", "value": "Root=1-0" }
    });
    event.to_string().into_response()
}
