//! The operations port: metrics, readiness and liveness. The API's port never serves them.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use logging::with_causes;
use shared::{state::App, telemetry::Observer};
use status::{DatabaseStatus, Health, ServiceStatus};
use tokio::time::timeout;

use crate::{serve::metrics::Metrics, web_pages::reject_web_pages};

/// The media type includes the format's version.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Timeout for loading the data, and for checking the key table. Probes usually time out after a
/// second.
const READINESS_TIMEOUT: Duration = Duration::from_millis(800);

const HEALTH_PATHS: [&str; 2] = ["/health", "/v1/health"];

/// The state of a running server, for operators.
pub struct ServerState {
    pub app: App,
    metrics: Metrics,
    is_stopping: AtomicBool,
}

impl ServerState {
    pub fn new(app: App) -> Arc<Self> {
        Arc::new(Self { app, metrics: Metrics::new(), is_stopping: AtomicBool::new(false) })
    }

    pub fn observer(self: &Arc<Self>) -> Observer {
        let state = Arc::clone(self);
        Arc::new(move |request| state.metrics.count(request))
    }

    /// Marks the server as not ready.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// The health of a stopping server, for load balancers that check the API instead of this port.
    fn stopping_health(&self) -> Health {
        let manifest = self.app.dataset.in_memory().map(|(_, manifest)| manifest);
        Health {
            status: ServiceStatus::Unhealthy,
            database: DatabaseStatus::Connected,
            last_ingestion: manifest.map(|manifest| manifest.current.ingested_at.to_string()),
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Returns the reason if this server is not ready for requests.
    async fn check_readiness(&self) -> Result<(), String> {
        if self.is_stopping() {
            return Err("the server is stopping".to_owned());
        }
        if self.app.dataset.in_memory().is_none() {
            let loaded = timeout(READINESS_TIMEOUT, self.app.dataset.get()).await;
            let loaded = loaded.map_err(|_| "the data is still loading")?;
            loaded.map_err(|error| format!("no data is loaded: {}", with_causes(&error)))?;
        }
        let usable = timeout(READINESS_TIMEOUT, self.app.keys.check_usable()).await;
        let usable = usable.map_err(|_| "the key table is not responding")?;
        usable.map_err(|error| format!("API keys cannot be checked: {}", with_causes(&error)))
    }
}

/// Counts in-flight requests. While the server is stopping, it reports itself as unhealthy,
/// and each response closes its connection, so that clients reconnect to another server.
pub async fn observe(
    State(state): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let _in_flight = state.metrics.in_flight();
    if !state.is_stopping() {
        return next.run(request).await;
    }
    let mut response = if HEALTH_PATHS.contains(&request.uri().path()) {
        state.stopping_health().into_response()
    } else {
        next.run(request).await
    };
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The operations port's routes, at this address.
pub fn router(state: Arc<ServerState>, address: IpAddr) -> Router {
    Router::new()
        .route("/live", get(async || "live\n"))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics_text))
        .layer(from_fn_with_state(address, reject_web_pages))
        .with_state(state)
}

/// Reports readiness. Caches must not store it, because it can change at any time.
async fn ready(State(state): State<Arc<ServerState>>) -> Response {
    let (status, text) = match state.check_readiness().await {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    };
    (status, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}

async fn metrics_text(State(state): State<Arc<ServerState>>) -> Response {
    let data = state.app.dataset.in_memory();
    let is_ready = data.is_some() && state.check_readiness().await.is_ok();
    state.metrics.set_database(&state.app.store);
    let text = state.metrics.render(is_ready, data.as_ref());
    ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response()
}
