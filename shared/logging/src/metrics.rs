//! Log lines from which CloudWatch extracts metrics, so no API call is needed
//! ([embedded metric format](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

/// The CloudWatch namespace for every metric.
pub const NAMESPACE: &str = "TelephoneNumberReference";

/// A metric and its value. Serializes as its definition in the embedded metric format.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Metric {
    pub name: &'static str,
    pub unit: Unit,
    #[serde(skip)]
    pub value: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub enum Unit {
    Count,
    Milliseconds,
    Seconds,
    /// For quantities without a CloudWatch unit, such as hours.
    None,
}

impl Metric {
    pub fn count(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Count, value }
    }
}

/// A JSON log line with `fields` and `metrics`. The metrics' dimension is the function name.
pub fn metrics_line(function: &str, now: Timestamp, fields: Value, metrics: &[Metric]) -> String {
    let mut line = fields;
    line["Function"] = function.into();
    line["_aws"] = json!({
        "Timestamp": now.as_millisecond(),
        "CloudWatchMetrics": [
            { "Namespace": NAMESPACE, "Dimensions": [["Function"]], "Metrics": metrics }
        ],
    });
    for metric in metrics {
        line[metric.name] = metric.value.into();
    }
    line.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_every_metric_and_its_definition() {
        let metrics = [
            Metric::count("Requests", 1.0),
            Metric { name: "Latency", unit: Unit::Milliseconds, value: 2.5 },
        ];
        let fields = json!({ "message": "request" });
        let line = metrics_line("stack-format", Timestamp::UNIX_EPOCH, fields, &metrics);
        let expected = json!({
            "message": "request",
            "Function": "stack-format",
            "_aws": {
                "Timestamp": 0,
                "CloudWatchMetrics": [{
                    "Namespace": "TelephoneNumberReference",
                    "Dimensions": [["Function"]],
                    "Metrics": [
                        { "Name": "Requests", "Unit": "Count" },
                        { "Name": "Latency", "Unit": "Milliseconds" },
                    ],
                }],
            },
            "Requests": 1.0,
            "Latency": 2.5,
        });
        assert_eq!(line, expected.to_string());
    }
}
