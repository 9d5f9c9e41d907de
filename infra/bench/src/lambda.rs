//! Runs a Lambda function and its extension on a fake [runtime
//! API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html), and measures how long the function takes.

use std::{
    net::Ipv4Addr,
    path::Path,
    process::Command,
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
    serve::ListenerExt,
};
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{Mutex, mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

use crate::{Error, programs::Process};

/// The timeout for the function to become idle or respond.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// A running function, which handles one event at a time.
#[derive(Debug)]
pub struct Function {
    pub process: Process,
    /// From process start until function and extension first requested an event.
    pub init: Duration,
    api: Arc<RuntimeApi>,
    events: mpsc::UnboundedSender<Bytes>,
    notices: mpsc::UnboundedSender<()>,
    answers: mpsc::UnboundedReceiver<Answer>,
    invocations: u64,
    server: JoinHandle<()>,
}

/// The response to an event.
#[derive(Debug)]
pub struct Answer {
    pub body: Bytes,
    /// From handing out the event until the whole response arrived.
    pub time: Duration,
}

/// State shared between the fake API's handlers and the benchmark.
#[derive(Debug)]
struct RuntimeApi {
    events: Mutex<mpsc::UnboundedReceiver<Bytes>>,
    notices: Mutex<mpsc::UnboundedReceiver<()>>,
    answers: mpsc::UnboundedSender<Answer>,
    handed_out: watch::Sender<Option<Instant>>,
    has_extension: OnceLock<()>,
    polls: watch::Sender<Polls>,
}

/// The requests for the next event from the function and its extension, and the time of the last.
#[derive(Debug, Clone, Copy)]
struct Polls {
    function: u64,
    extension: u64,
    last: Instant,
}

impl Function {
    /// Starts a function with this DynamoDB, and waits until it requests its first event.
    pub async fn start(program: &Path, dynamodb: &str, log: &str) -> Result<Self, Error> {
        let (events, waiting) = mpsc::unbounded_channel();
        let (notices, waiting_notices) = mpsc::unbounded_channel();
        let (answer, answers) = mpsc::unbounded_channel();
        let api = Arc::new(RuntimeApi {
            events: waiting.into(),
            notices: waiting_notices.into(),
            answers: answer,
            handed_out: watch::Sender::default(),
            has_extension: OnceLock::new(),
            polls: watch::Sender::new(Polls { function: 0, extension: 0, last: Instant::now() }),
        });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_event))
            .route("/2018-06-01/runtime/invocation/event/response", post(respond))
            .route("/2018-06-01/runtime/invocation/event/error", post(respond))
            .route("/2020-01-01/extension/register", post(register))
            .route("/2020-01-01/extension/event/next", get(next_notice))
            .with_state(Arc::clone(&api));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        // A delayed response would count as the function's time.
        let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
        let server = tokio::spawn(async move { _ = axum::serve(listener, router).await });
        let mut command = Command::new(program);
        // Only what Lambda sets, plus the local DynamoDB's URL.
        command
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", "bench")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
            .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
            .env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "local")
            .env("AWS_SECRET_ACCESS_KEY", "local");
        let started = Instant::now();
        let process = Process::start(&mut command, log)?;
        let (init, invocations) = (Duration::ZERO, 0);
        let mut function =
            Self { process, init, api, events, notices, answers, invocations, server };
        function.init = function.idle().await? - started;
        Ok(function)
    }

    /// The response to an event. Returns once the function is ready for the next one.
    pub async fn invoke(&mut self, event: &Bytes) -> Result<Answer, Error> {
        self.invocations += 1;
        self.events.send(event.clone())?;
        if self.api.has_extension.get().is_some() {
            self.notices.send(())?;
        }
        let answer = timeout(MAX_WAIT, self.answers.recv()).await;
        let answer = answer.map_err(|_| "the function does not respond")?;
        self.idle().await?;
        Ok(answer.ok_or("the stand-in for the runtime API has ended")?)
    }

    /// Waits until the function and its extension, if any, have requested their next event. Returns when.
    async fn idle(&self) -> Result<Instant, Error> {
        let times = self.invocations + 1;
        let is_idle = |polls: &Polls| {
            let has_extension = self.api.has_extension.get().is_some();
            polls.function >= times && (!has_extension || polls.extension >= times)
        };
        let mut polls = self.api.polls.subscribe();
        let idle = timeout(MAX_WAIT, polls.wait_for(is_idle)).await;
        Ok(idle.map_err(|_| "the function does not become idle")??.last)
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// An invocation's deadline: a minute from now, in milliseconds since 1970.
fn deadline() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.as_millis() as u64 + 60_000
}

async fn next_event(State(api): State<Arc<RuntimeApi>>) -> Response {
    api.polls.send_modify(|polls| {
        polls.function += 1;
        polls.last = Instant::now();
    });
    let Some(event) = api.events.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let headers = [
        ("lambda-runtime-aws-request-id", "event".to_owned()),
        ("lambda-runtime-deadline-ms", deadline().to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:x:1:function:bench".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    api.handed_out.send_replace(Some(Instant::now()));
    (headers, event).into_response()
}

async fn respond(State(api): State<Arc<RuntimeApi>>, body: Bytes) -> StatusCode {
    let time = api.handed_out.borrow().map(|since| since.elapsed()).unwrap_or_default();
    // The benchmark may have given up in the meantime.
    _ = api.answers.send(Answer { body, time });
    StatusCode::ACCEPTED
}

async fn register(State(api): State<Arc<RuntimeApi>>) -> Response {
    api.has_extension.get_or_init(|| ());
    let body = json!({ "functionName": "bench", "functionVersion": "1", "handler": "bootstrap" });
    ([("lambda-extension-identifier", "extension")], body.to_string()).into_response()
}

async fn next_notice(State(api): State<Arc<RuntimeApi>>) -> Response {
    api.polls.send_modify(|polls| {
        polls.extension += 1;
        polls.last = Instant::now();
    });
    if api.notices.lock().await.recv().await.is_none() {
        return StatusCode::GONE.into_response();
    }
    let notice = json!({
        "eventType": "INVOKE", "deadlineMs": deadline(), "requestId": "event",
        "invokedFunctionArn": "arn:aws:lambda:x:1:function:bench",
        "tracing": { "type": "X-Amzn-Trace-Id", "value": "Root=1-0" }
    });
    notice.to_string().into_response()
}
