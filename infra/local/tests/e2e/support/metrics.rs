//! Metrics in function logs and in the template.

use std::collections::BTreeSet;

use logging::NAMESPACE;
use serde_json::Value as JsonValue;
use yaml_serde::Value;

use super::template::{resources, text};

/// The metric names that CloudWatch finds in a log line.
pub fn metrics_in(line: &JsonValue) -> BTreeSet<String> {
    let directive = &line["_aws"]["CloudWatchMetrics"][0];
    assert_eq!(directive["Namespace"], NAMESPACE, "{line}");
    assert_eq!(directive["Dimensions"], serde_json::json!([["Function"]]), "{line}");
    let metrics = directive["Metrics"].as_array().unwrap().iter();
    metrics.map(|metric| metric["Name"].as_str().unwrap().to_owned()).collect()
}

/// The service's metrics that alarms and the dashboard read, for the functions whose resource name passes the filter.
/// The dashboard's searches cover all functions, so their name is empty.
pub fn metrics_read_by_template(filter: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut read = Vec::new();
    resources().values().for_each(|resource| collect_metrics(resource, &mut read));
    read.into_iter().filter(|(_, function)| filter(function)).map(|(name, _)| name).collect()
}

/// Collects the metrics that a part of the template reads, each with its function.
fn collect_metrics(value: &Value, read: &mut Vec<(String, String)>) {
    match value {
        Value::Tagged(tagged) => collect_metrics(&tagged.value, read),
        // A metric in an alarm.
        Value::Mapping(_) if value["Namespace"] == *NAMESPACE => {
            let dimension = &value["Dimensions"][0];
            assert_eq!(dimension["Name"], "Function", "{value:?}");
            read.push((text(&value["MetricName"]), text(&dimension["Value"])));
        }
        Value::Mapping(fields) => fields.values().for_each(|it| collect_metrics(it, read)),
        // A metric on the dashboard.
        Value::Sequence(_) if value[0] == *NAMESPACE => {
            assert_eq!(value[2], "Function", "{value:?}");
            let function = text(&value[3]).trim_matches(['$', '{', '}']).to_owned();
            read.push((text(&value[1]), function));
        }
        Value::Sequence(values) => values.iter().for_each(|it| collect_metrics(it, read)),
        Value::String(dashboard) if dashboard.starts_with('{') => {
            collect_metrics(&yaml_serde::from_str(dashboard).unwrap(), read);
        }
        Value::String(search) if search.contains(&format!("{{{NAMESPACE},Function}}")) => {
            let (_, name) = search.split_once("MetricName=\"").unwrap();
            read.push((name.split('"').next().unwrap().to_owned(), String::new()));
        }
        _ => (),
    }
}

/// The functions whose metric an alarm reads.
pub fn functions_watched_by(alarm: &str, metric_name: &str) -> BTreeSet<String> {
    let properties = &resources()[alarm]["Properties"];
    let metrics = properties["Metrics"].as_sequence().unwrap().iter();
    let metrics = metrics.map(|metric| &metric["MetricStat"]["Metric"]);
    let matching = metrics.filter(|metric| metric["MetricName"] == *metric_name);
    matching.map(|metric| text(&metric["Dimensions"][0]["Value"])).collect()
}
