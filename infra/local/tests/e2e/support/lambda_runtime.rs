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
    sync::{Mutex, Notify, mpsc, watch},
    time::timeout,
};

use super::processes::{send_signal, until_ended};

/// The variable by which Lambda tells a function how many requests it may take at once.
pub const MAX_CONCURRENCY: &str = "AWS_LAMBDA_MAX_CONCURRENCY";
const EXTENSION_ID: &str = "5f2d0b3a-extension";
/// How long an invocation may take, by the deadline that the function is given.
const INVOCATION_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the function may take to become idle or to respond.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Whether extensions may register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    Accepted,
    Refused,
}

/// What the handlers of the stand-in share with the test.
struct RuntimeState {
    registration: Registration,
    invocations: Mutex<mpsc::UnboundedReceiver<(String, Value)>>,
    invoked: Mutex<mpsc::UnboundedReceiver<String>>,
    /// How often the function and the extension have asked for their next event.
    asked: watch::Sender<(usize, usize)>,
    registered: watch::Sender<bool>,
    responses: Mutex<HashMap<String, Value>>,
    responded: Notify,
}

/// A function that runs under the stand-in.
pub struct LambdaFunction {
    process: Child,
    state: Arc<RuntimeState>,
    invoke: mpsc::UnboundedSender<(String, Value)>,
    notify_extension: mpsc::UnboundedSender<String>,
    invocations: usize,
    /// How many requests the function may take at once.
    at_once: usize,
}

impl LambdaFunction {
    /// Starts the process that `command` describes, and waits until it is ready.
    pub async fn start(mut command: Command, registration: Registration) -> Self {
        let (invoke, invocations) = mpsc::unbounded_channel();
        let (notify_extension, invoked) = mpsc::unbounded_channel();
        let state = Arc::new(RuntimeState {
            registration,
            invocations: Mutex::new(invocations),
            invoked: Mutex::new(invoked),
            asked: watch::Sender::default(),
            registered: watch::Sender::default(),
            responses: Mutex::default(),
            responded: Notify::new(),
        });
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
        let at_once = command
            .get_envs()
            .find(|(variable, _)| *variable == MAX_CONCURRENCY)
            .and_then(|(_, most)| most?.to_str()?.parse().ok());
        let process = command.spawn().unwrap();
        let function = Self {
            process,
            state,
            invoke,
            notify_extension,
            invocations: 0,
            at_once: at_once.unwrap_or(1),
        };
        function.until_idle().await;
        function
    }

    /// Whether the function has registered an extension.
    pub fn has_extension(&self) -> bool {
        *self.state.registered.borrow()
    }

    /// Waits until function and extension have asked for their next event.
    async fn until_idle(&self) {
        let mut asked = self.state.asked.subscribe();
        let idle = asked.wait_for(|(function, extension)| {
            *function == self.invocations + self.at_once
                && (!self.has_extension() || *extension == self.invocations + 1)
        });
        timeout(LONGEST_WAIT, idle).await.expect("the function does not become idle").unwrap();
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
        let response = async {
            loop {
                if let Some(response) = self.state.responses.lock().await.remove(id) {
                    return response;
                }
                self.state.responded.notified().await;
            }
        };
        timeout(LONGEST_WAIT, response).await.expect("the function does not respond")
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

/// When an invocation has to be over, in milliseconds since 1970.
fn deadline() -> u128 {
    let end = SystemTime::now() + INVOCATION_TIMEOUT;
    end.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()
}

async fn next_invocation(State(state): State<Arc<RuntimeState>>) -> Response {
    state.asked.send_modify(|(function, _)| *function += 1);
    let Some((id, event)) = state.invocations.lock().await.recv().await else {
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
    state.responses.lock().await.insert(id, serde_json::from_str(&body).unwrap());
    state.responded.notify_one();
    StatusCode::ACCEPTED
}

async fn register(State(state): State<Arc<RuntimeState>>) -> Response {
    if state.registration == Registration::Refused {
        return StatusCode::FORBIDDEN.into_response();
    }
    state.registered.send_replace(true);
    let body = json!({ "functionName": "npa", "functionVersion": "1", "handler": "bootstrap" });
    ([("lambda-extension-identifier", EXTENSION_ID)], body.to_string()).into_response()
}

async fn next_event(State(state): State<Arc<RuntimeState>>, headers: HeaderMap) -> Response {
    assert_eq!(headers["lambda-extension-identifier"], EXTENSION_ID);
    state.asked.send_modify(|(_, extension)| *extension += 1);
    let Some(id) = state.invoked.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let event = json!({
        "eventType": "INVOKE", "deadlineMs": deadline() as u64, "requestId": id,
        "invokedFunctionArn": "arn:aws:lambda:x:1:function:npa",
        "tracing": { "type": "X-Amzn-Trace-Id", "value": "Root=1-0" }
    });
    event.to_string().into_response()
}
