//! The server's metrics, in the [Prometheus text format] 0.0.4.
//!
//! [Prometheus text format]: https://prometheus.io/docs/instrumenting/exposition_formats/

use std::sync::Arc;

use axum::http::StatusCode;
use jiff::Timestamp;
use prometheus::{
    Counter, Gauge, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Registry, TextEncoder,
    register_counter_with_registry, register_gauge_with_registry,
    register_histogram_vec_with_registry, register_int_counter_vec_with_registry,
    register_int_gauge_vec_with_registry, register_int_gauge_with_registry,
};
use shared::telemetry::CompletedRequest;
use store::{LoadedVersion, Manifest, Store};

/// Upper bounds of the latency buckets, in seconds. Most requests take less than a millisecond;
/// during a database failure, up to ten seconds.
const LATENCY_BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// A server's metrics. Labels never contain client input, so the number of series is bounded.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    latency: HistogramVec,
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
    /// Metrics for a new process. Fails only if a name is invalid or a duplicate.
    pub fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let counters = |name, help, labels: &[&str]| {
            register_int_counter_vec_with_registry!(name, help, labels, registry)
        };
        let gauge = |name, help| register_int_gauge_with_registry!(name, help, registry);
        let seconds = |name, help| register_gauge_with_registry!(name, help, registry);
        let infos =
            |name, help| register_int_gauge_vec_with_registry!(name, help, &["version"], registry);
        let build = infos("tnr_build_info", "The program version; always 1")?;
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        let started = seconds("process_start_time_seconds", "Start time in Unix seconds")?;
        started.set(Timestamp::now().as_duration().as_secs_f64());
        Ok(Self {
            requests: counters(
                "tnr_http_requests_total",
                "Requests by route, method and status class",
                &["route", "method", "status"],
            )?,
            latency: register_histogram_vec_with_registry!(
                "tnr_http_request_duration_seconds",
                "Latency by route",
                &["route"],
                LATENCY_BUCKETS.to_vec(),
                registry
            )?,
            read_capacity: register_counter_with_registry!(
                "tnr_dynamodb_read_capacity_units_total",
                "Read capacity units consumed by requests",
                registry
            )?,
            database_up: gauge("tnr_database_up", "0 while a table is not responding")?,
            failed_calls: counters(
                "tnr_dynamodb_failed_calls_total",
                "Failed and timed-out reads, by kind",
                &["kind"],
            )?,
            in_flight: gauge("tnr_http_requests_in_flight", "Requests in flight")?,
            is_ready: gauge("tnr_ready", "1 while the server is ready for requests")?,
            data_version: infos("tnr_data_info", "The loaded data version; always 1")?,
            data_records: gauge("tnr_data_records", "NPA-NXX records in the loaded data")?,
            data_age: seconds("tnr_data_age_seconds", "Time since the loaded data was imported")?,
            registry,
        })
    }

    pub fn count(&self, request: CompletedRequest<'_>) {
        let labels = [request.route, request.method, status_class(request.status)];
        self.requests.with_label_values(&labels).inc();
        self.latency.with_label_values(&[request.route]).observe(request.took.as_secs_f64());
        self.read_capacity.inc_by(request.consumed_capacity.max(0.0));
    }

    /// Counts a request as in flight until the returned value is dropped.
    pub fn in_flight(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// Copies database health and counters from `store`.
    pub fn set_database(&self, store: &Store) {
        self.database_up.set(store.is_reachable().into());
        for (kind, count) in store.failed_calls() {
            let counter = self.failed_calls.with_label_values(&[kind.name()]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }

    /// All metrics as text. `data` is the loaded version.
    pub fn render(&self, is_ready: bool, data: Option<&(LoadedVersion, Arc<Manifest>)>) -> String {
        self.is_ready.set(is_ready.into());
        // The version is a label, so an older one would remain.
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

/// Counts a request as in flight until dropped.
pub struct InFlight(IntGauge);

impl Drop for InFlight {
    // Also runs if the client disconnects early.
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn status_class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}
