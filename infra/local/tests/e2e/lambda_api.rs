//! A stand-in for the API that Lambda offers a function and its extension, which freezes the function
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

use crate::freezing::{ended, send};

const EXTENSION_ID: &str = "5f2d0b3a-extension";
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether extensions may register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    Accepted,
    Refused,
}

struct Shared {
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
    shared: Arc<Shared>,
    invoke: mpsc::UnboundedSender<(String, Value)>,
    tell_extension: mpsc::UnboundedSender<String>,
    invocations: usize,
}

impl LambdaFunction {
    /// Starts the process that `command` describes, and waits until it is ready.
    pub async fn start(mut command: Command, registration: Registration) -> Self {
        let (invoke, invocations) = mpsc::unbounded_channel();
        let (tell_extension, invoked) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
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
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        command
            .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", "stack-npa")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1");
        let process = command.spawn().unwrap();
        let function = Self { process, shared, invoke, tell_extension, invocations: 0 };
        function.until_idle().await;
        function
    }

    pub fn is_extended(&self) -> bool {
        *self.shared.registered.borrow()
    }

    /// Waits until nothing keeps Lambda from freezing the process.
    async fn until_idle(&self) {
        let times = self.invocations + 1;
        let mut asked = self.shared.asked.subscribe();
        let idle = asked.wait_for(|(function, extension)| {
            *function == times && (!self.is_extended() || *extension == times)
        });
        timeout(PATIENCE, idle).await.expect("the function does not become idle").unwrap();
    }

    /// Thaws the function and gives its response to `event`.
    pub async fn invoke(&mut self, event: &Value) -> Value {
        self.thaw();
        self.invocations += 1;
        let id = format!("invocation-{}", self.invocations);
        if self.is_extended() {
            self.tell_extension.send(id.clone()).unwrap();
        }
        self.invoke.send((id.clone(), event.clone())).unwrap();
        let response = async {
            loop {
                if let Some(response) = self.shared.responses.lock().await.remove(&id) {
                    return response;
                }
                self.shared.responded.notified().await;
            }
        };
        timeout(PATIENCE, response).await.expect("the function does not respond")
    }

    /// Freezes the function once it is idle.
    pub async fn freeze(&self) {
        self.until_idle().await;
        send("STOP", &self.process);
    }

    pub fn thaw(&self) {
        send("CONT", &self.process);
    }

    /// Thaws the function and ends it; one with an extension is told so before.
    pub async fn shut_down(mut self) {
        self.thaw();
        send(if self.is_extended() { "TERM" } else { "KILL" }, &self.process);
        ended(&mut self.process).await;
    }
}

impl Drop for LambdaFunction {
    fn drop(&mut self) {
        // A process that has ended by itself is no longer there to be killed.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn deadline() -> u128 {
    let end = SystemTime::now() + Duration::from_secs(10);
    end.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()
}

async fn next_invocation(State(shared): State<Arc<Shared>>) -> Response {
    shared.asked.send_modify(|(function, _)| *function += 1);
    let Some((id, event)) = shared.invocations.lock().await.recv().await else {
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
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: String,
) -> StatusCode {
    shared.responses.lock().await.insert(id, serde_json::from_str(&body).unwrap());
    shared.responded.notify_one();
    StatusCode::ACCEPTED
}

async fn register(State(shared): State<Arc<Shared>>) -> Response {
    if shared.registration == Registration::Refused {
        return StatusCode::FORBIDDEN.into_response();
    }
    shared.registered.send_replace(true);
    let body = json!({ "functionName": "npa", "functionVersion": "1", "handler": "bootstrap" });
    ([("lambda-extension-identifier", EXTENSION_ID)], body.to_string()).into_response()
}

async fn next_event(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    assert_eq!(headers["lambda-extension-identifier"], EXTENSION_ID);
    shared.asked.send_modify(|(_, extension)| *extension += 1);
    let Some(id) = shared.invoked.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let event = json!({
        "eventType": "INVOKE", "deadlineMs": deadline() as u64, "requestId": id,
        "invokedFunctionArn": "arn:aws:lambda:x:1:function:npa",
        "tracing": { "type": "X-Amzn-Trace-Id", "value": "Root=1-0" }
    });
    event.to_string().into_response()
}
