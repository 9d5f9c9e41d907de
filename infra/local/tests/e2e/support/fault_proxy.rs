//! A proxy between the real client and the embedded DynamoDB that injects faults.

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

use super::service::http_client;

/// A call's fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Refused with an error that clients do not retry.
    Dead,
    Throttled,
    /// Refused by a failed condition.
    Overtaken,
    InternalError,
    Stall,
    /// The connection closes without an answer.
    Reset,
    /// Half of a `BatchWriteItem` is done; the rest is returned as unprocessed.
    HalfProcessed,
    /// All keys of a `BatchGetItem` are returned as unprocessed.
    Unprocessed,
    /// Done, but the connection closes in the middle of the answer.
    BrokenOff,
    /// Neither done nor answered until [`FaultProxy::deliver`].
    Postponed,
    /// Done and answered, then repeated by [`FaultProxy::deliver`].
    Repeated,
    /// Held until [`FaultProxy::release`], then done and answered. Later calls are held too, since a client
    /// that waits too long retries.
    Held,
    /// Done after half of this time, and answered after all of it.
    Late(Duration),
}

type Policy = dyn Fn(usize, &str) -> Fault + Send + Sync;

/// A running proxy; it ends with the test's runtime.
#[derive(Clone)]
pub struct FaultProxy {
    pub endpoint: String,
    /// The address of the database.
    upstream: String,
    policy: Arc<Policy>,
    calls: Arc<AtomicUsize>,
    client: Client,
    /// Calls waiting for delivery, oldest first.
    undelivered: Arc<Mutex<VecDeque<(HeaderMap, Bytes)>>>,
    is_holding: Arc<watch::Sender<bool>>,
    answered: Arc<Mutex<Vec<AnsweredCall>>>,
}

/// A call answered by the database.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredCall {
    pub operation: String,
    /// The consumed capacity units.
    pub units: f64,
}

impl FaultProxy {
    /// A proxy for `endpoint`; `policy` takes a call's number, from 1, and its operation.
    pub async fn before(
        endpoint: &str,
        policy: impl Fn(usize, &str) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = Self {
            endpoint: format!("http://{}", listener.local_addr().unwrap()),
            upstream: endpoint.to_owned(),
            policy: Arc::new(policy),
            calls: Arc::default(),
            client: http_client(),
            undelivered: Arc::default(),
            is_holding: Arc::default(),
            answered: Arc::default(),
        };
        let router = Router::new().fallback(forward).with_state(proxy.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        proxy
    }

    /// The number of calls since the start or the last reset.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Restarts the count.
    pub fn reset(&self) {
        self.calls.store(0, Ordering::SeqCst);
    }

    /// Takes the calls answered since the last take, in order.
    pub fn take_answered(&self) -> Vec<AnsweredCall> {
        std::mem::take(&mut self.answered.lock().unwrap())
    }

    /// Delivers the oldest undelivered call, if any.
    pub async fn deliver(&self) {
        let call = self.undelivered.lock().unwrap().pop_front();
        if let Some((headers, body)) = call {
            self.answer(headers, body).await;
        }
    }

    /// Waits until a call is held.
    pub async fn until_held(&self) {
        self.is_holding.subscribe().wait_for(|&is_holding| is_holding).await.unwrap();
    }

    /// Releases the held calls.
    pub fn release(&self) {
        self.is_holding.send_replace(false);
    }

    async fn until_released(&self) {
        self.is_holding.subscribe().wait_for(|&is_holding| !is_holding).await.unwrap();
    }

    async fn answer(&self, mut headers: HeaderMap, body: impl Into<reqwest::Body>) -> Response {
        let operation = operation_of(&headers).to_owned();
        headers.remove("host");
        headers.remove("content-length");
        let request = self.client.post(&self.upstream).headers(headers).body(body);
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await.unwrap();
        self.answered.lock().unwrap().push(AnsweredCall { operation, units: units_in(&body) });
        (status, headers, body).into_response()
    }

    /// Does the first half of each table's writes; returns the rest as unprocessed.
    async fn answer_half(&self, headers: HeaderMap, body: &[u8]) -> Response {
        let mut request: Value = serde_json::from_slice(body).unwrap();
        let mut unprocessed = serde_json::Map::new();
        for (table, writes) in request["RequestItems"].as_object_mut().unwrap() {
            let writes = writes.as_array_mut().unwrap();
            let rest = writes.split_off(writes.len().div_ceil(2));
            if !rest.is_empty() {
                unprocessed.insert(table.clone(), rest.into());
            }
        }
        self.answer(headers, request.to_string()).await;
        json_answer(&json!({ "UnprocessedItems": unprocessed }))
    }
}

/// A policy that injects a fault into every call of one operation.
pub fn at_operation(
    operation: &'static str,
    fault: Fault,
) -> impl Fn(usize, &str) -> Fault + Send + Sync + 'static {
    move |_, called| if called == operation { fault } else { Fault::None }
}

async fn forward(State(proxy): State<FaultProxy>, headers: HeaderMap, body: Bytes) -> Response {
    let operation = operation_of(&headers);
    let call = proxy.calls.fetch_add(1, Ordering::SeqCst) + 1;
    let fault = (proxy.policy)(call, operation);
    if fault == Fault::Held {
        proxy.is_holding.send_replace(true);
    }
    proxy.until_released().await;
    match fault {
        Fault::None | Fault::Held => proxy.answer(headers, body).await,
        Fault::Postponed => {
            proxy.undelivered.lock().unwrap().push_back((headers, body));
            broken_after(b"")
        }
        Fault::Repeated => {
            proxy.undelivered.lock().unwrap().push_back((headers.clone(), body.clone()));
            proxy.answer(headers, body).await
        }
        Fault::Dead => refusal(StatusCode::BAD_REQUEST, "ValidationException"),
        Fault::Throttled => {
            refusal(StatusCode::BAD_REQUEST, "ProvisionedThroughputExceededException")
        }
        Fault::Overtaken => refusal(StatusCode::BAD_REQUEST, "ConditionalCheckFailedException"),
        Fault::InternalError => refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError"),
        Fault::Stall => std::future::pending().await,
        Fault::Reset => broken_after(b""),
        Fault::Late(time) => {
            tokio::time::sleep(time / 2).await;
            let answer = proxy.answer(headers, body).await;
            tokio::time::sleep(time / 2).await;
            answer
        }
        Fault::HalfProcessed => proxy.answer_half(headers, &body).await,
        Fault::Unprocessed => {
            let request: Value = serde_json::from_slice(&body).unwrap();
            json_answer(&json!({ "Responses": {}, "UnprocessedKeys": request["RequestItems"] }))
        }
        Fault::BrokenOff => {
            proxy.answer(headers, body).await;
            broken_after(b"{\"Item\":")
        }
    }
}

fn operation_of(headers: &HeaderMap) -> &str {
    headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap()
}

/// The capacity units in an answer, which has one number, or one per table.
fn units_in(answer: &[u8]) -> f64 {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let consumed = &answer["ConsumedCapacity"];
    let of_tables = consumed.as_array().into_iter().flatten();
    of_tables.chain([consumed]).filter_map(|of| of["CapacityUnits"].as_f64()).sum()
}

/// An answer whose connection closes after these bytes.
fn broken_after(bytes: &'static [u8]) -> Response {
    let reset = Err(std::io::Error::other("reset"));
    let parts = if bytes.is_empty() { vec![reset] } else { vec![Ok(bytes), reset] };
    Body::from_stream(futures_util::stream::iter(parts)).into_response()
}

fn json_answer(body: &Value) -> Response {
    ([("content-type", "application/x-amz-json-1.0")], body.to_string()).into_response()
}

fn refusal(status: StatusCode, kind: &str) -> Response {
    let kind = format!("com.amazonaws.dynamodb.v20120810#{kind}");
    let body = json!({ "__type": kind, "message": "a fault on purpose" });
    (status, json_answer(&body)).into_response()
}
