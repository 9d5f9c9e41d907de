//! Metrics in function logs and in the template's alarms.

use std::collections::BTreeSet;

use logging::NAMESPACE;
use serde_json::Value as JsonValue;
use yaml_serde::Value;

use super::template::{resources_of_type, text};

/// The metric names that CloudWatch finds in a log line.
pub fn metrics_in(line: &JsonValue) -> BTreeSet<String> {
    let directive = &line["_aws"]["CloudWatchMetrics"][0];
    assert_eq!(directive["Namespace"], NAMESPACE, "{line}");
    assert_eq!(directive["Dimensions"], serde_json::json!([["Function"]]), "{line}");
    let metrics = directive["Metrics"].as_array().unwrap().iter();
    metrics.map(|metric| metric["Name"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that a function's log line has all metrics that alarms read for it.
pub fn assert_has_alarm_metrics(line: &JsonValue, function: &str) {
    let mut read = Vec::new();
    for (_, alarm) in resources_of_type("AWS::CloudWatch::Alarm") {
        collect_metrics(&alarm["Properties"], &mut read);
    }
    let read = read.into_iter().filter(|(_, of)| of == function).map(|(name, _)| name);
    let (read, written) = (read.collect::<BTreeSet<_>>(), metrics_in(line));
    assert!(!read.is_empty() && read.is_subset(&written), "alarms read {read:?} in {line}");
}

/// Collects the service's metrics that a part of an alarm reads, each with its function.
fn collect_metrics(value: &Value, read: &mut Vec<(String, String)>) {
    match value {
        Value::Tagged(tagged) => collect_metrics(&tagged.value, read),
        Value::Mapping(_) if value["Namespace"] == *NAMESPACE => {
            read.push((text(&value["MetricName"]), text(&value["Dimensions"][0]["Value"])));
        }
        Value::Mapping(fields) => fields.values().for_each(|it| collect_metrics(it, read)),
        Value::Sequence(values) => values.iter().for_each(|it| collect_metrics(it, read)),
        _ => (),
    }
}
