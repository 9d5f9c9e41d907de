//! Request metrics: durations by [semantic conventions], and what reads consumed.
//!
//! [semantic conventions]: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/

use std::{
    collections::BTreeMap,
    mem,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::unix_nanos;

/// Upper bounds of the buckets in seconds, as the conventions advise.
const BOUNDS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// The period that exported totals cover, with OTLP's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Temporality {
    /// The time since the last export.
    Delta = 1,
    /// The time since the process started.
    #[default]
    Cumulative = 2,
}

#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    since: SystemTime,
    /// By attributes, in JSON.
    durations: BTreeMap<String, Histogram>,
    capacity_units: f64,
    failed_calls: u32,
}

impl Default for Metrics {
    fn default() -> Self {
        let since = SystemTime::now();
        Self { since, durations: BTreeMap::new(), capacity_units: 0.0, failed_calls: 0 }
    }
}

#[derive(Debug, Clone, Default)]
struct Histogram {
    attributes: Vec<Value>,
    /// One more than bounds, for longer durations.
    counts: [u64; BOUNDS.len() + 1],
    sum: f64,
}

impl Metrics {
    pub fn add(&mut self, attributes: Vec<Value>, took: Duration, units: f64, failed_calls: u32) {
        let key = json!(attributes).to_string();
        let new = || Histogram { attributes, ..Histogram::default() };
        let histogram = self.durations.entry(key).or_insert_with(new);
        let seconds = took.as_secs_f64();
        histogram.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        histogram.sum += seconds;
        self.capacity_units += units;
        self.failed_calls += failed_calls;
    }

    /// The totals to export; `None` without requests.
    pub fn take(&mut self, temporality: Temporality) -> Option<Self> {
        if self.durations.is_empty() {
            return None;
        }
        Some(match temporality {
            Temporality::Delta => mem::take(self),
            Temporality::Cumulative => self.clone(),
        })
    }

    /// Counts are numbers, because some collectors silently drop histograms with strings.
    pub fn to_json(&self, temporality: Temporality) -> Value {
        let (start, time) = (unix_nanos(self.since), unix_nanos(SystemTime::now()));
        let temporality = temporality as u8;
        let points = self.durations.values().map(|Histogram { attributes, counts, sum }| {
            json!({
                "attributes": attributes,
                "startTimeUnixNano": start,
                "timeUnixNano": time,
                "count": counts.iter().sum::<u64>(),
                "sum": sum,
                "bucketCounts": counts,
                "explicitBounds": BOUNDS,
            })
        });
        let points: Vec<Value> = points.collect();
        let histogram = json!({ "aggregationTemporality": temporality, "dataPoints": points });
        let sum = |name: &str, total: f64| {
            let point =
                json!({ "startTimeUnixNano": start, "timeUnixNano": time, "asDouble": total });
            let sum = json!({
                "aggregationTemporality": temporality, "isMonotonic": true, "dataPoints": [point]
            });
            json!({ "name": name, "sum": sum })
        };
        json!([
            { "name": "http.server.request.duration", "unit": "s", "histogram": histogram },
            sum("tnr_dynamodb_read_capacity_units_total", self.capacity_units),
            sum("tnr_dynamodb_failed_calls_total", self.failed_calls.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delta totals cover only the last three requests.
    #[test]
    fn durations_are_counted_up_to_their_bucket_since_the_start_or_the_last_export() {
        for (temporality, first, capacity_units) in
            [(Temporality::Delta, 1, 1.5), (Temporality::Cumulative, 2, 2.0)]
        {
            let mut metrics = Metrics::default();
            assert!(metrics.take(temporality).is_none());
            let mut take_after = |milliseconds: &[u64]| {
                for milliseconds in milliseconds {
                    let took = Duration::from_millis(*milliseconds);
                    metrics.add(vec![json!("a")], took, 0.5, 1);
                }
                metrics.take(temporality).unwrap().to_json(temporality)
            };
            take_after(&[1]);
            let json = take_after(&[5, 6, 11_000]);
            let point = &json[0]["histogram"]["dataPoints"][0];
            let counts = json!([first, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            assert_eq!((&point["bucketCounts"], &point["count"]), (&counts, &json!(first + 2)));
            assert_eq!(point["attributes"], json!(["a"]));
            assert_eq!(json[1]["sum"]["dataPoints"][0]["asDouble"], capacity_units);
        }
    }
}
