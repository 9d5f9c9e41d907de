//! Log lines from which CloudWatch also reads metrics, so that publishing them takes no call
//! ([embedded metric format](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).

use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// The CloudWatch namespace of every metric.
pub const NAMESPACE: &str = "TelephoneNumberReference";

/// One metric and its value. Serialized, it is the definition of the metric.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Metric {
    pub name: &'static str,
    pub unit: Unit,
    #[serde(skip)]
    pub value: f64,
}

/// The units that the metrics of this service have.
#[derive(Debug, Clone, Copy, Serialize)]
pub enum Unit {
    Count,
    Milliseconds,
    Seconds,
    /// For what CloudWatch has no unit for, such as hours.
    None,
}

impl Metric {
    /// A metric whose unit is a count.
    pub fn count(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Count, value }
    }
}

/// A line with fields and metrics. It is written without a tree of values in between, which would take
/// as long as a short request.
#[derive(Serialize)]
struct Line<'a, F> {
    #[serde(flatten)]
    fields: F,
    #[serde(rename = "Function")]
    function: &'a str,
    #[serde(rename = "_aws")]
    metadata: Metadata<'a>,
    #[serde(flatten)]
    values: Values<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Metadata<'a> {
    timestamp: i64,
    cloud_watch_metrics: [MetricDirective<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDirective<'a> {
    namespace: &'static str,
    dimensions: [[&'static str; 1]; 1],
    metrics: &'a [Metric],
}

/// The value of each metric by its name.
struct Values<'a>(&'a [Metric]);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|metric| (metric.name, metric.value)))
    }
}

/// The log line that holds `fields`, which must be an object in JSON, and `metrics`, whose dimension is
/// the name of the function.
pub fn metrics_line(
    function: &str,
    now: Timestamp,
    fields: impl Serialize,
    metrics: &[Metric],
) -> String {
    let directive = MetricDirective { namespace: NAMESPACE, dimensions: [["Function"]], metrics };
    let metadata = Metadata { timestamp: now.as_millisecond(), cloud_watch_metrics: [directive] };
    let line = Line { fields, function, metadata, values: Values(metrics) };
    serde_json::to_string(&line).expect("fields and metrics are objects whose keys are names")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_line_holds_every_metric_it_names() {
        let metrics = [
            Metric::count("Requests", 1.0),
            Metric { name: "Latency", unit: Unit::Milliseconds, value: 2.5 },
        ];
        let fields = json!({ "message": "request" });
        let line = metrics_line("stack-format", Timestamp::UNIX_EPOCH, fields, &metrics);
        let line: Value = serde_json::from_str(&line).unwrap();
        let defined = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
        let values: Vec<_> =
            defined.iter().map(|metric| &line[metric["Name"].as_str().unwrap()]).collect();
        assert_eq!(values, [&json!(1.0), &json!(2.5)]);
        assert_eq!(
            (&line["Function"], &line["message"]),
            (&json!("stack-format"), &json!("request"))
        );
    }
}
