//! The operations port: metrics, readiness and liveness of the server, at an address that clients
//! do not reach. The port of the API never has them.

mod metrics;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::get,
};
use logging::with_causes;
use shared::telemetry::Observer;
use store::CurrentDataset;
use tokio::time::timeout;

use metrics::Metrics;

/// The version of the text format is a part of its type.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// How long a readiness check waits for the data. A prober gives up after a second or more.
const LONGEST_LOAD: Duration = Duration::from_millis(800);

/// What operators are told about a running server.
pub struct ServerState {
    dataset: Arc<CurrentDataset>,
    metrics: Metrics,
    is_stopping: AtomicBool,
}

/// Why a server should get no requests.
#[derive(Debug, thiserror::Error)]
enum NotReady {
    #[error("the server is stopping")]
    Stopping,
    #[error("the data is being loaded")]
    Loading,
    #[error("no data is in memory: {0}")]
    NoData(String),
}

impl ServerState {
    /// A server that starts now, and answers from `dataset`.
    pub fn new(dataset: Arc<CurrentDataset>) -> Arc<Self> {
        Arc::new(Self { dataset, metrics: Metrics::new(), is_stopping: AtomicBool::new(false) })
    }

    /// Counts each request that the API answers.
    pub fn observer(self: &Arc<Self>) -> Observer {
        let state = Arc::clone(self);
        Arc::new(move |request| state.metrics.count(request))
    }

    /// Says from now on that the server should get no more requests.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    async fn readiness(&self) -> Result<(), NotReady> {
        if self.is_stopping.load(Ordering::Relaxed) {
            return Err(NotReady::Stopping);
        }
        if self.dataset.in_memory().is_some() {
            return Ok(());
        }
        match timeout(LONGEST_LOAD, self.dataset.get()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(NotReady::NoData(with_causes(&error))),
            Err(_) => Err(NotReady::Loading),
        }
    }
}

/// Counts the requests that are being answered.
pub async fn count_in_flight(
    State(state): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let _in_flight = state.metrics.in_flight();
    next.run(request).await
}

/// What the operations port answers.
pub fn router(state: Arc<ServerState>) -> Router {
    Router::new()
        .route("/live", get(async || "live\n"))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics_text))
        .with_state(state)
}

/// Whether the server should get requests. Probers and proxies ask often, so nothing is cached.
async fn ready(State(state): State<Arc<ServerState>>) -> Response {
    let (status, text) = match state.readiness().await {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    };
    (status, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}

async fn metrics_text(State(state): State<Arc<ServerState>>) -> Response {
    let data = state.dataset.in_memory();
    let is_ready = data.is_some() && !state.is_stopping.load(Ordering::Relaxed);
    let text = state.metrics.text(is_ready, data.as_ref());
    ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response()
}
