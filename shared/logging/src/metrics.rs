//! Log lines from which CloudWatch also reads metrics, so that publishing them takes no call
//! ([embedded metric format](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).

use jiff::Timestamp;
use serde_json::{Value, json};

/// The CloudWatch namespace of every metric.
pub const NAMESPACE: &str = "TelephoneNumberReference";

/// One metric and its value.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    pub name: &'static str,
    pub unit: Unit,
    pub value: f64,
}

/// The units that the metrics of this service have.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    Count,
    Milliseconds,
    Seconds,
}

impl Metric {
    /// A metric whose unit is a count.
    pub fn count(name: &'static str, value: f64) -> Self {
        Self { name, unit: Unit::Count, value }
    }

    fn definition(&self) -> Value {
        let unit = match self.unit {
            Unit::Count => "Count",
            Unit::Milliseconds => "Milliseconds",
            Unit::Seconds => "Seconds",
        };
        json!({ "Name": self.name, "Unit": unit })
    }
}

/// The log line that holds `fields`, which must be a JSON object, and `metrics`, whose dimension is
/// the name of the function.
pub fn metrics_line(function: &str, now: Timestamp, fields: Value, metrics: &[Metric]) -> Value {
    let definitions: Vec<Value> = metrics.iter().map(Metric::definition).collect();
    let mut line = fields;
    line["Function"] = function.into();
    line["_aws"] = json!({
        "Timestamp": now.as_millisecond(),
        "CloudWatchMetrics": [
            { "Namespace": NAMESPACE, "Dimensions": [["Function"]], "Metrics": definitions }
        ],
    });
    for metric in metrics {
        line[metric.name] = metric.value.into();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_holds_every_metric_it_names() {
        let metrics = [
            Metric::count("Requests", 1.0),
            Metric { name: "Latency", unit: Unit::Milliseconds, value: 2.5 },
        ];
        let fields = json!({ "message": "request" });
        let line = metrics_line("stack-format", Timestamp::UNIX_EPOCH, fields, &metrics);
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
