//! Request metrics: durations by [semantic conventions], and what reads consumed.
//!
//! [semantic conventions]: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::{attribute, unix_nanos};

/// Upper bounds of the buckets in seconds, as the conventions advise.
const BOUNDS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// The period that exported totals cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temporality {
    /// The time since the last export.
    Delta = 1,
    /// The time since the process started.
    Cumulative = 2,
}

/// A request, without text from the client.
#[derive(Debug, Clone)]
pub struct MeasuredRequest<'a> {
    pub method: &'static str,
    pub scheme: &'static str,
    /// `None` for an unknown path.
    pub route: Option<&'a str>,
    pub status: u16,
    pub took: Duration,
    pub capacity_units: f64,
    pub failed_calls: u32,
}

/// A histogram's labels.
type Series = (&'static str, &'static str, Option<String>, u16);

#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    since: SystemTime,
    durations: BTreeMap<Series, Histogram>,
    capacity_units: f64,
    failed_calls: u64,
}

impl Default for Metrics {
    fn default() -> Self {
        let since = SystemTime::now();
        Self { since, durations: BTreeMap::new(), capacity_units: 0.0, failed_calls: 0 }
    }
}

#[derive(Debug, Clone, Default)]
struct Histogram {
    /// One more than bounds, for longer durations.
    counts: [u64; BOUNDS.len() + 1],
    sum: f64,
}

impl Metrics {
    pub fn add(&mut self, request: &MeasuredRequest) {
        let route = request.route.map(str::to_owned);
        let series = (request.method, request.scheme, route, request.status);
        let histogram = self.durations.entry(series).or_default();
        let seconds = request.took.as_secs_f64();
        histogram.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        histogram.sum += seconds;
        self.capacity_units += request.capacity_units;
        self.failed_calls += u64::from(request.failed_calls);
    }

    /// The totals to export; `None` without requests.
    pub fn take(&mut self, temporality: Temporality) -> Option<Self> {
        if self.durations.is_empty() {
            return None;
        }
        Some(match temporality {
            Temporality::Delta => std::mem::take(self),
            Temporality::Cumulative => self.clone(),
        })
    }
}

pub(crate) fn metrics_json(metrics: &Metrics, temporality: Temporality) -> Value {
    let (temporality, start) = (temporality as u8, unix_nanos(metrics.since));
    let time = unix_nanos(SystemTime::now());
    let point = |series: &Series, Histogram { counts, sum }: &Histogram| {
        json!({
            "attributes": attributes(series),
            "startTimeUnixNano": start,
            "timeUnixNano": time,
            "count": counts.iter().sum::<u64>(),
            "sum": sum,
            "bucketCounts": counts,
            "explicitBounds": BOUNDS,
        })
    };
    let points: Vec<Value> =
        metrics.durations.iter().map(|(it, values)| point(it, values)).collect();
    let sum = |name: &str, total: f64| {
        let point = json!({ "startTimeUnixNano": start, "timeUnixNano": time, "asDouble": total });
        let sum = json!({
            "aggregationTemporality": temporality, "isMonotonic": true, "dataPoints": [point]
        });
        json!({ "name": name, "sum": sum })
    };
    json!([
        {
            "name": "http.server.request.duration",
            "unit": "s",
            "histogram": { "aggregationTemporality": temporality, "dataPoints": points },
        },
        sum("tnr_dynamodb_read_capacity_units_total", metrics.capacity_units),
        sum("tnr_dynamodb_failed_calls_total", metrics.failed_calls as f64),
    ])
}

fn attributes((method, scheme, route, status): &Series) -> Vec<Value> {
    let mut attributes = vec![
        attribute("http.request.method", *method),
        attribute("url.scheme", *scheme),
        attribute("http.response.status_code", *status),
    ];
    attributes.extend(route.as_deref().map(|route| attribute("http.route", route)));
    if *status >= 500 {
        attributes.push(attribute("error.type", status.to_string()));
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(milliseconds: u64, status: u16) -> MeasuredRequest<'static> {
        let took = Duration::from_millis(milliseconds);
        MeasuredRequest {
            method: "GET",
            scheme: "https",
            route: Some("/v1/list"),
            status,
            took,
            capacity_units: 0.5,
            failed_calls: 1,
        }
    }

    #[test]
    fn durations_are_counted_by_route_and_status_up_to_their_bucket() {
        let mut metrics = Metrics::default();
        for (milliseconds, status) in [(5, 200), (6, 200), (11_000, 200), (1, 503)] {
            metrics.add(&request(milliseconds, status));
        }
        let taken = metrics.take(Temporality::Cumulative).unwrap();
        let json = metrics_json(&taken, Temporality::Cumulative);
        let histogram = &json[0]["histogram"];
        assert_eq!(histogram["aggregationTemporality"], 2);
        let [ok, failed] = [0, 1].map(|point| &histogram["dataPoints"][point]);
        assert_eq!(ok["bucketCounts"], json!([1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
        assert_eq!((&ok["count"], &ok["sum"]), (&json!(3), &json!(11.011)));
        let attributes = failed["attributes"].as_array().unwrap();
        assert_eq!(attributes.last(), Some(&attribute("error.type", "503")));
        assert_eq!(json[1]["sum"]["dataPoints"][0]["asDouble"], 2.0);
        assert_eq!(json[2]["sum"]["dataPoints"][0]["asDouble"], 4.0);
    }

    #[test]
    fn delta_totals_restart_after_each_export() {
        for (temporality, expected) in
            [(Temporality::Delta, [1, 1]), (Temporality::Cumulative, [1, 2])]
        {
            let mut metrics = Metrics::default();
            let counts = [(); 2].map(|()| {
                metrics.add(&request(1, 200));
                let taken = metrics.take(temporality).unwrap();
                taken.durations.values().flat_map(|it| it.counts).sum::<u64>()
            });
            assert_eq!(counts, expected);
        }
        assert!(Metrics::default().take(Temporality::Delta).is_none());
    }
}
