//! Log lines from which CloudWatch extracts metrics, so no API call is needed
//! ([embedded metric format](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).

use std::{env, sync::LazyLock};

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

/// A JSON log line with `fields` and `metrics`. The metrics' dimension is the function name. CloudWatch extracts, and
/// bills for, the metrics named in the environment variable `METRICS`, separated by commas, or all if it is not set.
pub fn metrics_line(function: &str, now: Timestamp, fields: Value, metrics: &[Metric]) -> String {
    static ENABLED_METRICS: LazyLock<Option<String>> = LazyLock::new(|| env::var("METRICS").ok());
    line(function, now, fields, metrics, ENABLED_METRICS.as_deref())
}

fn line(
    function: &str,
    now: Timestamp,
    fields: Value,
    metrics: &[Metric],
    extracted: Option<&str>,
) -> String {
    let is_extracted = |metric: &&Metric| {
        extracted.is_none_or(|names| names.split(',').any(|name| name == metric.name))
    };
    let definitions: Vec<_> = metrics.iter().filter(is_extracted).collect();
    let mut line = fields;
    line["Function"] = function.into();
    if !definitions.is_empty() {
        line["_aws"] = json!({
            "Timestamp": now.as_millisecond(),
            "CloudWatchMetrics": [
                { "Namespace": NAMESPACE, "Dimensions": [["Function"]], "Metrics": definitions }
            ],
        });
    }
    for metric in metrics {
        line[metric.name] = metric.value.into();
    }
    line.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_every_metric_and_define_the_extracted_ones() {
        let metrics = [
            Metric::count("Requests", 1.0),
            Metric { name: "Latency", unit: Unit::Milliseconds, value: 2.5 },
        ];
        let lines = [None, Some("Latency,ChecksFailed"), Some("")].map(|extracted| {
            let fields = json!({ "message": "request" });
            line("stack-format", Timestamp::UNIX_EPOCH, fields, &metrics, extracted)
        });
        insta::assert_snapshot!(lines.join("\n"));
    }
}
