//! The operations port: metrics in the [Prometheus text format] 0.0.4, readiness and liveness. The API's port does not
//! serve them.
//!
//! [Prometheus text format]: https://prometheus.io/docs/instrumenting/exposition_formats/

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
use jiff::Timestamp;
use logging::with_causes;
use prometheus::{
    Counter, Gauge, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TextEncoder, core::Collector,
};
use shared::{
    state::App,
    telemetry::{CompletedRequest, Observer},
};
use status::{DatabaseStatus, Health, ServiceStatus};
use store::{LoadedVersion, Manifest, Store};
use tokio::time::timeout;

use crate::web_pages::reject_web_pages;

/// The media type, which includes the format's version.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The timeout for loading the data, and for checking the key table. Probes usually time out after a
/// second.
const READINESS_TIMEOUT: Duration = Duration::from_millis(800);

const HEALTH_PATHS: [&str; 2] = ["/health", "/v1/health"];

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

/// Counts in-flight requests. A stopping server reports itself as unhealthy, and closes each connection
/// after the response, so that clients reconnect to another server.
pub async fn observe(
    State(state): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    // Also dropped if the client disconnects early.
    let _in_flight = Arc::clone(&state.metrics.active);
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

/// Upper bounds of the latency buckets, in seconds. Most requests take less than a millisecond.
/// During a database outage, they take up to ten seconds.
const LATENCY_BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// A server's metrics. Labels never contain client input, so the number of series is bounded.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    latency: HistogramVec,
    /// Cloned by each request in flight.
    active: Arc<()>,
    in_flight: IntGauge,
    read_capacity: Counter,
    database_up: IntGauge,
    failed_calls: IntCounterVec,
    is_ready: IntGauge,
    data_version: IntGaugeVec,
    data_records: IntGauge,
    data_age: Gauge,
}

impl Metrics {
    pub fn new() -> Self {
        let registry = Registry::new();
        let counters = |name: &str, help: &str, labels: &[&str]| {
            register(&registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let gauge = |name: &str, help: &str| register(&registry, IntGauge::new(name, help));
        let seconds = |name: &str, help: &str| register(&registry, Gauge::new(name, help));
        let info = |name: &str, help: &str| {
            register(&registry, IntGaugeVec::new(Opts::new(name, help), &["version"]))
        };
        let build = info("tnr_build_info", "The program version; always 1");
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        let started = seconds("process_start_time_seconds", "Start time in Unix seconds");
        started.set(Timestamp::now().as_duration().as_secs_f64());
        let latency = HistogramOpts::new("tnr_http_request_duration_seconds", "Latency by route");
        let latency = latency.buckets(LATENCY_BUCKETS.to_vec());
        let requests = "Requests by route, method and status class";
        let capacity = "Read capacity units consumed by requests";
        let failed_calls = "Failed and timed-out reads, by kind";
        Self {
            requests: counters("tnr_http_requests_total", requests, &["route", "method", "status"]),
            latency: register(&registry, HistogramVec::new(latency, &["route"])),
            read_capacity: register(
                &registry,
                Counter::new("tnr_dynamodb_read_capacity_units_total", capacity),
            ),
            database_up: gauge("tnr_database_up", "0 while a table is not responding"),
            failed_calls: counters("tnr_dynamodb_failed_calls_total", failed_calls, &["kind"]),
            active: Arc::default(),
            in_flight: gauge("tnr_http_requests_in_flight", "Requests in flight"),
            is_ready: gauge("tnr_ready", "1 while the server is ready for requests"),
            data_version: info("tnr_data_info", "The loaded data version; always 1"),
            data_records: gauge("tnr_data_records", "NPA-NXX records in the loaded data"),
            data_age: seconds("tnr_data_age_seconds", "Time since the loaded data was imported"),
            registry,
        }
    }

    pub fn count(&self, request: &CompletedRequest) {
        let (route, class) = (&*request.route, request.outcome().as_u16() / 100);
        self.requests.with_label_values(&[route, request.method, &format!("{class}xx")]).inc();
        self.latency.with_label_values(&[route]).observe(request.took.as_secs_f64());
        self.read_capacity.inc_by(request.consumption.capacity_units.max(0.0));
    }

    /// Copies database health and counters from `store`.
    pub fn set_database(&self, store: &Store) {
        self.database_up.set(store.is_reachable().into());
        for (kind, count) in store.failed_calls() {
            let counter = self.failed_calls.with_label_values(&[kind.name()]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }

    /// Renders all metrics in the Prometheus text format. `data` is the loaded version.
    pub fn render(&self, is_ready: bool, data: Option<&(LoadedVersion, Arc<Manifest>)>) -> String {
        self.is_ready.set(is_ready.into());
        self.in_flight.set(Arc::strong_count(&self.active) as i64 - 1);
        // The version is a label, so the previous one would remain.
        self.data_version.reset();
        if let Some((loaded, manifest)) = data
            && let Some(snapshot) = manifest.snapshot(loaded.version.as_str())
        {
            self.data_version.with_label_values(&[loaded.version.as_str()]).set(1);
            self.data_records.set(snapshot.statistics.total_records.into());
            let age = Timestamp::now().duration_since(snapshot.ingested_at);
            self.data_age.set(age.as_secs_f64().max(0.0));
        }
        let encoded = TextEncoder::new().encode_to_string(&self.registry.gather());
        encoded.expect("each metric has a value")
    }
}

fn register<M: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<M>,
) -> M {
    let metric = metric.expect("metric names are valid");
    registry.register(Box::new(metric.clone())).expect("metric names are unique");
    metric
}
