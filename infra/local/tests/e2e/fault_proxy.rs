//! A proxy between the real client and the embedded DynamoDB that does wrong what it is told to.

use crate::service::http_client;
use std::{
    collections::VecDeque,
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Refused in a way that no client tries again.
    Dead,
    Throttled,
    InternalError,
    /// Never answered.
    Stall,
    /// The connection ends without an answer.
    Reset,
    /// Half of a BatchWriteItem is done, the rest handed back.
    HalfProcessed,
    /// Done, but the answer breaks off.
    BrokenOff,
    /// Not done now and not answered, but delivered when [`FaultProxy::deliver`] says so.
    Postponed,
    /// Done and answered, and delivered again when [`FaultProxy::deliver`] says so.
    Repeated,
    /// Held until [`FaultProxy::release`], then done and answered.
    Held,
    /// Done after half of this time, answered after all of it.
    Late(Duration),
}

type Policy = dyn Fn(usize, &str) -> Fault + Send + Sync;

pub struct FaultProxy {
    pub endpoint: String,
    behind: Behind,
}

#[derive(Clone)]
struct Behind {
    endpoint: String,
    policy: Arc<Policy>,
    calls: Arc<AtomicUsize>,
    client: Client,
    /// Calls that are still to be delivered, the oldest first.
    underway: Arc<Mutex<VecDeque<(HeaderMap, Bytes)>>>,
    holding: Arc<watch::Sender<bool>>,
}

impl FaultProxy {
    /// A proxy before `endpoint`; `policy` takes the number of a call, from 1, and its operation.
    pub async fn before(
        endpoint: &str,
        policy: impl Fn(usize, &str) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let behind = Behind {
            endpoint: endpoint.to_owned(),
            policy: Arc::new(policy),
            calls: Arc::default(),
            client: http_client(),
            underway: Arc::default(),
            holding: Arc::new(watch::Sender::new(false)),
        };
        let router = Router::new().fallback(forward).with_state(behind.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { endpoint: proxy, behind }
    }

    /// How many calls have come.
    pub fn calls(&self) -> usize {
        self.behind.calls.load(Ordering::SeqCst)
    }

    /// Begins to count the calls anew.
    pub fn reset(&self) {
        self.behind.calls.store(0, Ordering::SeqCst);
    }

    /// Delivers the oldest call that is still underway, if there is one.
    pub async fn deliver(&self) {
        let call = self.behind.underway.lock().unwrap().pop_front();
        if let Some((headers, body)) = call {
            self.behind.answer(headers, body).await;
        }
    }

    /// Waits until a call is held.
    pub async fn held(&self) {
        self.behind.holding.subscribe().wait_for(|&holding| holding).await.unwrap();
    }

    /// Lets the held call go on.
    pub fn release(&self) {
        self.behind.holding.send_replace(false);
    }
}

async fn forward(State(behind): State<Behind>, headers: HeaderMap, body: Bytes) -> Response {
    let operation = headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap();
    let call = behind.calls.fetch_add(1, Ordering::SeqCst) + 1;
    match (behind.policy)(call, operation) {
        Fault::None => behind.answer(headers, body).await,
        Fault::Postponed => {
            behind.underway.lock().unwrap().push_back((headers, body));
            connection_reset()
        }
        Fault::Repeated => {
            behind.underway.lock().unwrap().push_back((headers.clone(), body.clone()));
            behind.answer(headers, body).await
        }
        Fault::Held => {
            let mut holding = behind.holding.subscribe();
            behind.holding.send_replace(true);
            holding.wait_for(|&holding| !holding).await.unwrap();
            behind.answer(headers, body).await
        }
        Fault::Dead => refusal(StatusCode::BAD_REQUEST, "ValidationException"),
        Fault::Throttled => {
            refusal(StatusCode::BAD_REQUEST, "ProvisionedThroughputExceededException")
        }
        Fault::InternalError => refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError"),
        Fault::Stall => std::future::pending().await,
        Fault::Reset => connection_reset(),
        Fault::Late(time) => {
            tokio::time::sleep(time / 2).await;
            let answer = behind.answer(headers, body).await;
            tokio::time::sleep(time / 2).await;
            answer
        }
        Fault::HalfProcessed => behind.half(headers, &body).await,
        Fault::BrokenOff => {
            behind.answer(headers, body).await;
            let broken = futures_util::stream::iter([
                Ok(Bytes::from_static(b"{\"Item\":")),
                Err(std::io::Error::other("broken off")),
            ]);
            Body::from_stream(broken).into_response()
        }
    }
}

fn connection_reset() -> Response {
    let reset = Err::<Bytes, _>(std::io::Error::other("reset"));
    Body::from_stream(futures_util::stream::iter([reset])).into_response()
}

fn refusal(status: StatusCode, kind: &str) -> Response {
    let kind = format!("com.amazonaws.dynamodb.v20120810#{kind}");
    let body = json!({ "__type": kind, "message": "a fault on purpose" });
    (status, [("content-type", "application/x-amz-json-1.0")], body.to_string()).into_response()
}

impl Behind {
    async fn answer(&self, mut headers: HeaderMap, body: impl Into<reqwest::Body>) -> Response {
        headers.remove("host");
        headers.remove("content-length");
        let request = self.client.post(&self.endpoint).headers(headers).body(body);
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        (status, headers, answer.bytes().await.unwrap()).into_response()
    }

    /// Does the first half of a table's writes and hands the others back.
    async fn half(&self, headers: HeaderMap, body: &[u8]) -> Response {
        let mut request: Value = serde_json::from_slice(body).unwrap();
        let mut left = serde_json::Map::new();
        for (table, writes) in request["RequestItems"].as_object_mut().unwrap() {
            let writes = writes.as_array_mut().unwrap();
            let rest = writes.split_off(writes.len().div_ceil(2));
            if !rest.is_empty() {
                left.insert(table.clone(), rest.into());
            }
        }
        self.answer(headers, request.to_string()).await;
        let body = json!({ "UnprocessedItems": left });
        ([("content-type", "application/x-amz-json-1.0")], body.to_string()).into_response()
    }
}
