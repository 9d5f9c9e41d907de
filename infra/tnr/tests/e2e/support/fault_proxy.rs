//! A fault-injecting proxy between the real client and the embedded DynamoDB.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
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
use store::{Store, TimeoutProfile};
use tokio::sync::watch;

use super::{listening::serve, service::http_client};

/// The fault to inject into a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Rejected with this exception.
    Error(&'static str),
    Stall,
    /// The connection closes without a response.
    CloseWithoutResponse,
    /// Half of a `BatchWriteItem` is processed. The rest is returned as unprocessed.
    HalfProcessed,
    /// All keys of a `BatchGetItem` are returned as unprocessed.
    Unprocessed,
    /// Processed, but the connection closes in the middle of the response.
    CutOff,
    /// Neither processed nor responded to until [`FaultProxy::deliver`].
    Postponed,
    /// Processed and responded to, then repeated by [`FaultProxy::deliver`].
    Repeated,
    /// Held until [`FaultProxy::release`], then processed and responded to. Later calls are also held, because a client
    /// that waits too long retries.
    Held,
    /// Processed after half of this time. The response comes after all of it.
    Late(Duration),
}

impl Fault {
    /// A fault that clients do not retry.
    pub const NON_RETRYABLE: Self = Self::Error("ValidationException");
    pub const THROTTLED: Self = Self::Error("ProvisionedThroughputExceededException");
    pub const CONDITION_FAILED: Self = Self::Error("ConditionalCheckFailedException");
    pub const INTERNAL_ERROR: Self = Self::Error("InternalServerError");
}

/// A call from a client.
#[derive(Clone)]
pub struct Call {
    /// The position of the call since the start or the last reset, starting at 1.
    pub number: usize,
    pub operation: String,
    /// The tables that the call names.
    tables: Vec<String>,
    headers: HeaderMap,
    body: Bytes,
}

type Policy = dyn Fn(&Call) -> Fault + Send + Sync;

/// A running proxy. It stops with the test's runtime.
#[derive(Clone)]
pub struct FaultProxy {
    pub endpoint: String,
    shared: Arc<Shared>,
}

struct Shared {
    /// The database's address.
    upstream: String,
    policy: Box<Policy>,
    /// `true` if the policy is off.
    is_passing: AtomicBool,
    calls: AtomicUsize,
    client: Client,
    /// Calls waiting for delivery, oldest first.
    undelivered: Mutex<VecDeque<Call>>,
    is_holding: watch::Sender<bool>,
    completed: Mutex<Vec<CompletedCall>>,
}

/// A call that the database responded to.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletedCall {
    pub operation: String,
    /// The call's table, or the first of several.
    pub table: String,
    /// The consumed capacity units.
    pub units: f64,
}

impl FaultProxy {
    /// A proxy for `endpoint` with a policy for its calls.
    pub async fn new(
        endpoint: &str,
        policy: impl Fn(&Call) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            upstream: endpoint.to_owned(),
            policy: Box::new(policy),
            is_passing: AtomicBool::default(),
            calls: AtomicUsize::default(),
            client: http_client(),
            undelivered: Mutex::default(),
            is_holding: watch::Sender::default(),
            completed: Mutex::default(),
        });
        let router = Router::new().fallback(handle).with_state(Arc::clone(&shared));
        Self { endpoint: serve(router).await, shared }
    }

    /// A proxy that injects a fault into the first calls to an operation.
    pub async fn for_first_calls(
        endpoint: &str,
        calls: usize,
        operation: &'static str,
        fault: Fault,
    ) -> Self {
        let seen = AtomicUsize::new(0);
        let policy = move |call: &Call| {
            let is_hit = call.operation == operation && seen.fetch_add(1, Ordering::SeqCst) < calls;
            if is_hit { fault } else { Fault::None }
        };
        Self::new(endpoint, policy).await
    }

    /// A proxy that injects a fault into every call to an operation.
    pub async fn for_operation(endpoint: &str, operation: &'static str, fault: Fault) -> Self {
        Self::for_first_calls(endpoint, usize::MAX, operation, fault).await
    }

    /// A client for the database behind the proxy, with an import's timeouts.
    pub fn store(&self) -> Store {
        Store::connect_to_emulator(&self.endpoint, TimeoutProfile::Batch)
    }

    /// A proxy without faults.
    pub async fn transparent(endpoint: &str) -> Self {
        Self::new(endpoint, |_| Fault::None).await
    }

    /// A proxy that injects `fault` into every call (or every call to `table`) after [`Self::start_failing`].
    pub async fn with_switch(endpoint: &str, table: Option<&'static str>, fault: Fault) -> Self {
        let is_hit = move |call: &Call| {
            table.is_none_or(|table| call.tables.iter().any(|called| called == table))
        };
        let policy = move |call: &Call| if is_hit(call) { fault } else { Fault::None };
        let proxy = Self::new(endpoint, policy).await;
        proxy.stop_failing();
        proxy
    }

    pub fn start_failing(&self) {
        self.shared.is_passing.store(false, Ordering::SeqCst);
    }

    pub fn stop_failing(&self) {
        self.shared.is_passing.store(true, Ordering::SeqCst);
    }

    /// The number of calls since the start or the last reset.
    pub fn calls(&self) -> usize {
        self.shared.calls.load(Ordering::SeqCst)
    }

    pub fn reset_call_count(&self) {
        self.shared.calls.store(0, Ordering::SeqCst);
    }

    /// Returns the calls with responses since the previous take, in order.
    pub fn take_completed(&self) -> Vec<CompletedCall> {
        std::mem::take(&mut self.shared.completed.lock().unwrap())
    }

    /// Delivers the oldest undelivered call, if any.
    pub async fn deliver(&self) {
        let call = self.shared.undelivered.lock().unwrap().pop_front();
        if let Some(call) = call {
            self.shared.forward(call).await;
        }
    }

    /// Waits until a call is held.
    pub async fn wait_until_held(&self) {
        self.shared.is_holding.subscribe().wait_for(|&is_holding| is_holding).await.unwrap();
    }

    /// Releases the held calls.
    pub fn release(&self) {
        self.shared.is_holding.send_replace(false);
    }
}

impl Shared {
    async fn forward(&self, call: Call) -> Response {
        let Call { operation, tables, mut headers, body, .. } = call;
        headers.remove("host");
        headers.remove("content-length");
        let request = self.client.post(&self.upstream).headers(headers).body(body);
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await.unwrap();
        let (table, units) = (tables.into_iter().next().unwrap_or_default(), units_in(&body));
        self.completed.lock().unwrap().push(CompletedCall { operation, table, units });
        (status, headers, body).into_response()
    }

    /// Forwards the first half of each table's writes, and returns the rest as unprocessed.
    async fn forward_half(&self, call: Call) -> Response {
        let mut request: Value = serde_json::from_slice(&call.body).unwrap();
        let mut unprocessed = serde_json::Map::new();
        for (table, writes) in request["RequestItems"].as_object_mut().unwrap() {
            let writes = writes.as_array_mut().unwrap();
            let rest = writes.split_off(writes.len().div_ceil(2));
            if !rest.is_empty() {
                unprocessed.insert(table.clone(), rest.into());
            }
        }
        self.forward(Call { body: request.to_string().into(), ..call }).await;
        json_response(&json!({ "UnprocessedItems": unprocessed }))
    }
}

async fn handle(State(proxy): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let number = proxy.calls.fetch_add(1, Ordering::SeqCst) + 1;
    let operation =
        headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap().to_owned();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let several = request["RequestItems"].as_object().into_iter().flat_map(|tables| tables.keys());
    let single = request["TableName"].as_str().map(str::to_owned);
    let tables = single.into_iter().chain(several.cloned()).collect();
    let call = Call { number, operation, tables, headers, body };
    let is_passing = proxy.is_passing.load(Ordering::SeqCst);
    let fault = if is_passing { Fault::None } else { (proxy.policy)(&call) };
    if fault == Fault::Held {
        proxy.is_holding.send_replace(true);
    }
    proxy.is_holding.subscribe().wait_for(|&is_holding| !is_holding).await.unwrap();
    match fault {
        Fault::None | Fault::Held => proxy.forward(call).await,
        Fault::Postponed => {
            proxy.undelivered.lock().unwrap().push_back(call);
            cut_off_after(b"")
        }
        Fault::Repeated => {
            proxy.undelivered.lock().unwrap().push_back(call.clone());
            proxy.forward(call).await
        }
        Fault::Error(kind) => error(kind),
        Fault::Stall => std::future::pending().await,
        Fault::CloseWithoutResponse => cut_off_after(b""),
        Fault::Late(time) => {
            tokio::time::sleep(time / 2).await;
            let response = proxy.forward(call).await;
            tokio::time::sleep(time / 2).await;
            response
        }
        Fault::HalfProcessed => proxy.forward_half(call).await,
        Fault::Unprocessed => {
            json_response(&json!({ "Responses": {}, "UnprocessedKeys": request["RequestItems"] }))
        }
        Fault::CutOff => {
            proxy.forward(call).await;
            cut_off_after(b"{\"Item\":")
        }
    }
}

/// The capacity units in a response, which has a total, or one per table.
fn units_in(body: &[u8]) -> f64 {
    let response: Value = serde_json::from_slice(body).unwrap_or_default();
    let consumed = &response["ConsumedCapacity"];
    let tables = consumed.as_array().into_iter().flatten();
    tables.chain([consumed]).filter_map(|table| table["CapacityUnits"].as_f64()).sum()
}

/// A response whose connection closes after these bytes.
fn cut_off_after(bytes: &'static [u8]) -> Response {
    let reset = Err(std::io::Error::other("reset"));
    let parts = if bytes.is_empty() { vec![reset] } else { vec![Ok(bytes), reset] };
    Body::from_stream(futures_util::stream::iter(parts)).into_response()
}

fn json_response(body: &Value) -> Response {
    ([("content-type", "application/x-amz-json-1.0")], body.to_string()).into_response()
}

fn error(kind: &str) -> Response {
    let status = if kind.starts_with("Internal") { 500 } else { 400 };
    let kind = format!("com.amazonaws.dynamodb.v20120810#{kind}");
    let body = json_response(&json!({ "__type": kind, "message": "an injected fault" }));
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}
