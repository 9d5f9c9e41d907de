//! What the server counts, in the [text format of Prometheus] 0.0.4.
//!
//! [text format of Prometheus]: https://prometheus.io/docs/instrumenting/exposition_formats/

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::http::StatusCode;
use jiff::Timestamp;
use prometheus::{
    Counter, Gauge, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TextEncoder, core::Collector,
};
use shared::telemetry::AnsweredRequest;
use store::{LoadedVersion, Manifest, Store};

/// The upper ends of the buckets of the latency, in seconds. Most requests take less than a
/// millisecond; those that wait for a database that fails take up to ten seconds.
const LATENCY_BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
const CHECKED_BY_A_TEST: &str = "the names of the metrics are valid, and each is registered once";

/// The counts of one server. The labels are routes, methods and classes of status, never anything
/// that a client wrote, so that their number is bounded.
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
    /// The metrics of a process that starts now.
    pub fn new() -> Self {
        let registry = Registry::new();
        let build = int_gauge_vec("tnr_build_info", "The release; always 1", &["version"]);
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        let started =
            gauge("process_start_time_seconds", "When the process started, in seconds since 1970");
        started.set(seconds_since_1970());
        register(&registry, build);
        register(&registry, started);
        let requests = IntCounterVec::new(
            Opts::new("tnr_http_requests_total", "Answered requests, by route and outcome"),
            &["route", "method", "status"],
        );
        let latency = HistogramVec::new(
            HistogramOpts::new(
                "tnr_http_request_duration_seconds",
                "The time from a request to its response, by route",
            )
            .buckets(LATENCY_BUCKETS.to_vec()),
            &["route"],
        );
        let read_capacity = Counter::new(
            "tnr_dynamodb_read_capacity_units_total",
            "The capacity units that DynamoDB counted for the reads of requests",
        );
        let failed_calls = IntCounterVec::new(
            Opts::new(
                "tnr_dynamodb_failed_calls_total",
                "The reads that failed, or took longer than a request waits, by kind",
            ),
            &["kind"],
        );
        Self {
            requests: registered(&registry, requests.expect(CHECKED_BY_A_TEST)),
            latency: registered(&registry, latency.expect(CHECKED_BY_A_TEST)),
            read_capacity: registered(&registry, read_capacity.expect(CHECKED_BY_A_TEST)),
            database_up: registered(
                &registry,
                int_gauge("tnr_database_up", "0 while a table of the database does not answer"),
            ),
            failed_calls: registered(&registry, failed_calls.expect(CHECKED_BY_A_TEST)),
            in_flight: registered(
                &registry,
                int_gauge("tnr_http_requests_in_flight", "Requests that are being answered"),
            ),
            is_ready: registered(
                &registry,
                int_gauge("tnr_ready", "1 once the data is in memory, until the server stops"),
            ),
            data_version: registered(
                &registry,
                int_gauge_vec(
                    "tnr_data_info",
                    "The version of the data in memory; always 1",
                    &["version"],
                ),
            ),
            data_records: registered(
                &registry,
                int_gauge("tnr_data_records", "The NPA-NXX records of the data in memory"),
            ),
            data_age: registered(
                &registry,
                gauge("tnr_data_age_seconds", "The time since the data in memory was imported"),
            ),
            registry,
        }
    }

    /// Counts a request that has been answered.
    pub fn count(&self, request: AnsweredRequest<'_>) {
        let labels = [request.route, request.method, status_class(request.status)];
        self.requests.with_label_values(&labels).inc();
        self.latency.with_label_values(&[request.route]).observe(request.took.as_secs_f64());
        self.read_capacity.inc_by(request.consumed_capacity.max(0.0));
    }

    /// Counts a request as being answered for as long as the returned value lives.
    pub fn in_flight(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// Takes over what `store` knows of the database.
    pub fn set_database(&self, store: &Store) {
        self.database_up.set(store.is_reachable().into());
        for (kind, count) in store.failed_calls() {
            let counter = self.failed_calls.with_label_values(&[kind.name()]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }

    /// All metrics as text. `data` is the version in memory.
    pub fn text(&self, is_ready: bool, data: Option<&(LoadedVersion, Arc<Manifest>)>) -> String {
        self.is_ready.set(is_ready.into());
        // The version before has no value any more.
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
        encoded.expect(CHECKED_BY_A_TEST)
    }
}

/// One of the requests that are being answered.
pub struct InFlight(IntGauge);

impl Drop for InFlight {
    /// Also of a request whose client has gone, which is never answered.
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn gauge(name: &str, help: &str) -> Gauge {
    Gauge::new(name, help).expect(CHECKED_BY_A_TEST)
}

fn int_gauge(name: &str, help: &str) -> IntGauge {
    IntGauge::new(name, help).expect(CHECKED_BY_A_TEST)
}

fn int_gauge_vec(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), labels).expect(CHECKED_BY_A_TEST)
}

fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> C {
    register(registry, collector.clone());
    collector
}

fn register(registry: &Registry, collector: impl Collector + 'static) {
    registry.register(Box::new(collector)).expect(CHECKED_BY_A_TEST);
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

fn seconds_since_1970() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |elapsed| elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_request_is_counted_by_its_route_and_the_class_of_its_status() {
        let metrics = Metrics::new();
        for status in [StatusCode::OK, StatusCode::NOT_MODIFIED, StatusCode::NOT_FOUND] {
            metrics.count(AnsweredRequest {
                method: "GET",
                route: "/v1/npa/{npa}",
                status,
                took: Duration::from_millis(2),
                consumed_capacity: 0.5,
            });
        }
        let in_flight = metrics.in_flight();
        let text = metrics.text(true, None);
        for line in [
            "# TYPE tnr_http_requests_total counter",
            r#"tnr_http_requests_total{method="GET",route="/v1/npa/{npa}",status="2xx"} 1"#,
            r#"tnr_http_requests_total{method="GET",route="/v1/npa/{npa}",status="3xx"} 1"#,
            r#"tnr_http_requests_total{method="GET",route="/v1/npa/{npa}",status="4xx"} 1"#,
            r#"tnr_http_request_duration_seconds_bucket{route="/v1/npa/{npa}",le="0.001"} 0"#,
            r#"tnr_http_request_duration_seconds_bucket{route="/v1/npa/{npa}",le="0.0025"} 3"#,
            r#"tnr_http_request_duration_seconds_count{route="/v1/npa/{npa}"} 3"#,
            "tnr_dynamodb_read_capacity_units_total 1.5",
            "tnr_http_requests_in_flight 1",
            "tnr_ready 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
        }
        drop(in_flight);
        assert!(metrics.text(false, None).contains("tnr_http_requests_in_flight 0\n"));
    }
}
