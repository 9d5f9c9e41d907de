//! A stand-in for the [API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) that
//! Lambda offers a function and its extension, which measures how long the function takes.

use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
    serve::ListenerExt,
};
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::timeout,
};

use crate::Error;

/// How long an invocation may take, by the deadline that the function is given.
const INVOCATION_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the function may take to become idle or to respond.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// How Lambda runs the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One invocation at a time.
    Sequential,
    /// As many invocations at a time as the function asks for. Lambda does so on managed instances,
    /// where no extension can be told of invocations.
    Concurrent,
}

/// The response to an invocation.
#[derive(Debug)]
pub struct Answer {
    pub body: Bytes,
    /// From the moment in which the event was handed out until the whole response was received.
    pub time: Duration,
}

/// The running stand-in. It ends when this value is dropped.
#[derive(Debug)]
pub struct RuntimeApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    invoke: mpsc::UnboundedSender<Invocation>,
    notify_extension: mpsc::UnboundedSender<u64>,
    server: JoinHandle<()>,
}

/// What the handlers share with the benchmark.
#[derive(Debug)]
struct Shared {
    mode: Mode,
    waiting: tokio::sync::Mutex<mpsc::UnboundedReceiver<Invocation>>,
    notices: tokio::sync::Mutex<mpsc::UnboundedReceiver<u64>>,
    running: Mutex<HashMap<u64, Running>>,
    most_at_once: AtomicUsize,
    invocations: AtomicU64,
    is_extended: AtomicBool,
    polls: watch::Sender<Polls>,
}

#[derive(Debug)]
struct Invocation {
    id: u64,
    event: Bytes,
    answer: oneshot::Sender<Answer>,
}

/// An invocation whose event has been handed out.
#[derive(Debug)]
struct Running {
    since: Instant,
    answer: oneshot::Sender<Answer>,
}

/// How often the function and its extension have asked for their next event, and when last.
#[derive(Debug, Clone, Copy)]
struct Polls {
    function: u64,
    extension: u64,
    last: Instant,
}

impl RuntimeApi {
    /// Starts the stand-in on a free port.
    pub async fn start(mode: Mode) -> Result<Self, Error> {
        let (invoke, waiting) = mpsc::unbounded_channel();
        let (notify_extension, notices) = mpsc::unbounded_channel();
        let polls = Polls { function: 0, extension: 0, last: Instant::now() };
        let shared = Arc::new(Shared {
            mode,
            waiting: waiting.into(),
            notices: notices.into(),
            running: Mutex::default(),
            most_at_once: AtomicUsize::new(0),
            invocations: AtomicU64::new(0),
            is_extended: AtomicBool::new(false),
            polls: watch::Sender::new(polls),
        });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_invocation))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(respond))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(respond))
            .route("/2020-01-01/extension/register", post(register))
            .route("/2020-01-01/extension/event/next", get(next_notice))
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        // A response that waits for more to send would count as time of the function.
        let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
        let server = tokio::spawn(async move { _ = axum::serve(listener, router).await });
        Ok(Self { address, shared, invoke, notify_extension, server })
    }

    /// Where the function finds the stand-in.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The most invocations that were ever running at the same time.
    pub fn most_at_once(&self) -> usize {
        self.shared.most_at_once.load(Ordering::Relaxed)
    }

    /// Waits until the function can take an event, and gives the moment in which it said so. In
    /// sequential mode its extension has to be done with the last event, too, as Lambda has it.
    pub async fn idle(&self) -> Result<Instant, Error> {
        let times = self.shared.invocations.load(Ordering::Relaxed) + 1;
        let is_idle = |polls: &Polls| match self.shared.mode {
            Mode::Sequential => {
                let has_extension = self.shared.is_extended.load(Ordering::Relaxed);
                polls.function >= times && (!has_extension || polls.extension >= times)
            }
            Mode::Concurrent => polls.function > 0,
        };
        let mut polls = self.shared.polls.subscribe();
        let idle = timeout(LONGEST_WAIT, polls.wait_for(is_idle)).await;
        Ok(idle.map_err(|_| "the function does not become idle")??.last)
    }

    /// The response of the function to an event.
    pub async fn invoke(&self, event: Bytes) -> Result<Answer, Error> {
        let (answer, answered) = oneshot::channel();
        let id = self.shared.invocations.fetch_add(1, Ordering::Relaxed);
        let invocation = Invocation { id, event, answer };
        self.invoke.send(invocation).map_err(|_| "the stand-in for the runtime API has ended")?;
        if self.shared.is_extended.load(Ordering::Relaxed) {
            self.notify_extension.send(id)?;
        }
        let answer = timeout(LONGEST_WAIT, answered).await;
        Ok(answer.map_err(|_| "the function does not respond")??)
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When an invocation has to be over, in milliseconds since 1970.
fn deadline() -> u128 {
    let end = SystemTime::now() + INVOCATION_TIMEOUT;
    end.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis()
}

async fn next_invocation(State(shared): State<Arc<Shared>>) -> Response {
    shared.polls.send_modify(|polls| {
        polls.function += 1;
        polls.last = Instant::now();
    });
    let invocation = shared.waiting.lock().await.recv().await;
    let Some(Invocation { id, event, answer }) = invocation else {
        return StatusCode::GONE.into_response();
    };
    let headers = [
        ("lambda-runtime-aws-request-id", id.to_string()),
        ("lambda-runtime-deadline-ms", deadline().to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:x:1:function:bench".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    let mut running = shared.running();
    running.insert(id, Running { since: Instant::now(), answer });
    shared.most_at_once.fetch_max(running.len(), Ordering::Relaxed);
    drop(running);
    (headers, event).into_response()
}

async fn respond(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    body: Bytes,
) -> StatusCode {
    let received = Instant::now();
    let Some(running) = shared.running().remove(&id) else { return StatusCode::BAD_REQUEST };
    let answer = Answer { body, time: received - running.since };
    // The benchmark may have given up in the meantime.
    _ = running.answer.send(answer);
    StatusCode::ACCEPTED
}

async fn register(State(shared): State<Arc<Shared>>, body: String) -> Response {
    if shared.mode == Mode::Concurrent && body.contains("INVOKE") {
        return StatusCode::FORBIDDEN.into_response();
    }
    shared.is_extended.store(true, Ordering::Relaxed);
    let body = json!({ "functionName": "bench", "functionVersion": "1", "handler": "bootstrap" });
    ([("lambda-extension-identifier", "extension")], body.to_string()).into_response()
}

async fn next_notice(State(shared): State<Arc<Shared>>) -> Response {
    shared.polls.send_modify(|polls| {
        polls.extension += 1;
        polls.last = Instant::now();
    });
    let Some(id) = shared.notices.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let notice = json!({
        "eventType": "INVOKE", "deadlineMs": deadline() as u64, "requestId": id.to_string(),
        "invokedFunctionArn": "arn:aws:lambda:x:1:function:bench",
        "tracing": { "type": "X-Amzn-Trace-Id", "value": "Root=1-0" }
    });
    notice.to_string().into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use hyper::{HeaderMap, Request, client::conn::http1::handshake};
    use hyper_util::rt::TokioIo;
    use tokio::{net::TcpStream, sync::Barrier};

    use super::*;

    const NEXT: &str = "/2018-06-01/runtime/invocation/next";
    const NEXT_NOTICE: &str = "/2020-01-01/extension/event/next";

    /// What a function sends, and what it gets.
    async fn call(
        api: SocketAddr,
        method: &str,
        path: &str,
        body: &str,
    ) -> (StatusCode, HeaderMap, Bytes) {
        let stream = TcpStream::connect(api).await.unwrap();
        let (mut connection, driver) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(driver);
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let (head, body) = connection.send_request(request).await.unwrap().into_parts();
        (head.status, head.headers, to_bytes(Body::new(body), usize::MAX).await.unwrap())
    }

    async fn register(api: SocketAddr) -> StatusCode {
        let body = r#"{"events":["INVOKE"]}"#;
        call(api, "POST", "/2020-01-01/extension/register", body).await.0
    }

    /// A function that takes one event and answers it with itself.
    async fn echo_once(api: SocketAddr, work: impl Future) {
        let (_, headers, event) = call(api, "GET", NEXT, "").await;
        work.await;
        let id = headers["lambda-runtime-aws-request-id"].to_str().unwrap();
        let path = format!("/2018-06-01/runtime/invocation/{id}/response");
        call(api, "POST", &path, str::from_utf8(&event).unwrap()).await;
    }

    async fn is_idle(api: &RuntimeApi) -> bool {
        timeout(Duration::from_millis(100), api.idle()).await.is_ok()
    }

    #[tokio::test]
    async fn an_answer_is_timed_from_its_event_on() {
        let api = RuntimeApi::start(Mode::Sequential).await.unwrap();
        let work = Duration::from_millis(50);
        let sleep = async move { tokio::time::sleep(work).await };
        let function = tokio::spawn(echo_once(api.address(), sleep));
        api.idle().await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let answer = api.invoke("{}".into()).await.unwrap();
        assert_eq!(answer.body, "{}");
        assert!(answer.time >= work, "{:?}", answer.time);
        function.await.unwrap();
        assert!(!is_idle(&api).await, "it has not asked for another event");
    }

    #[tokio::test]
    async fn a_function_is_idle_once_its_extension_is_too() {
        let api = RuntimeApi::start(Mode::Sequential).await.unwrap();
        assert_eq!(register(api.address()).await, StatusCode::OK);
        tokio::spawn(call(api.address(), "GET", NEXT, ""));
        assert!(!is_idle(&api).await);
        tokio::spawn(call(api.address(), "GET", NEXT_NOTICE, ""));
        api.idle().await.unwrap();
    }

    #[tokio::test]
    async fn several_invocations_run_at_a_time_if_the_function_asks_for_them() {
        let api = RuntimeApi::start(Mode::Concurrent).await.unwrap();
        assert_eq!(register(api.address()).await, StatusCode::FORBIDDEN);
        let both_have_an_event = Arc::new(Barrier::new(2));
        let functions = [1, 2].map(|_| {
            let (address, both) = (api.address(), Arc::clone(&both_have_an_event));
            tokio::spawn(async move { echo_once(address, both.wait()).await })
        });
        let answers = tokio::join!(api.invoke("1".into()), api.invoke("2".into()));
        assert_eq!(answers.0.unwrap().body, "1");
        assert_eq!(answers.1.unwrap().body, "2");
        assert_eq!(api.most_at_once(), 2);
        for function in functions {
            function.await.unwrap();
        }
    }
}
