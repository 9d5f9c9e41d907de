//! Metrics in function logs and in the template.

use std::collections::BTreeSet;

use logging::NAMESPACE;
use serde_json::Value as JsonValue;
use yaml_serde::Value;

use super::template::{self, resources, resources_of_type, text};

/// The probe's resource name.
const PROBE: &str = "ProbeFunction";

/// The metric names that CloudWatch finds in a log line.
pub fn metrics_written_by(line: &JsonValue) -> BTreeSet<String> {
    let directive = &line["_aws"]["CloudWatchMetrics"][0];
    assert_eq!(directive["Namespace"], NAMESPACE, "{line}");
    assert_eq!(directive["Dimensions"], serde_json::json!([["Function"]]), "{line}");
    let metrics = directive["Metrics"].as_array().unwrap().iter();
    metrics.map(|metric| metric["Name"].as_str().unwrap().to_owned()).collect()
}

/// This service's metrics read by alarms and the dashboard: for the API functions, and for the import. The
/// scheduled probe's metrics are in neither.
pub fn metrics_read_by_template() -> (BTreeSet<String>, BTreeSet<String>) {
    let read = [metrics_of_alarms(), metrics_of_dashboard()].concat();
    let read = read.into_iter().filter(|(_, function)| function != PROBE);
    let (of_import, of_requests): (Vec<_>, Vec<_>) =
        read.partition(|(_, function)| function == "IngestFunction");
    let names =
        |metrics: Vec<(String, String)>| metrics.into_iter().map(|(name, _)| name).collect();
    (names(of_requests), names(of_import))
}

/// The probe's metrics read by alarms and the dashboard.
pub fn metrics_of_probe_read_by_template() -> BTreeSet<String> {
    let read = [metrics_of_alarms(), metrics_of_dashboard()].concat().into_iter();
    read.filter(|(_, function)| function == PROBE).map(|(name, _)| name).collect()
}

/// The metrics of the alarms, each with its function.
fn metrics_of_alarms() -> Vec<(String, String)> {
    let mut read = Vec::new();
    for (_, alarm) in resources_of_type("AWS::CloudWatch::Alarm") {
        let properties = &alarm["Properties"];
        let listed = properties["Metrics"].as_sequence().into_iter().flatten();
        let metrics = listed.map(|metric| &metric["MetricStat"]["Metric"]).chain([properties]);
        let of_service = metrics.filter(|metric| metric["Namespace"] == *NAMESPACE);
        read.extend(of_service.map(|metric| (text(&metric["MetricName"]), function_of(metric))));
    }
    read
}

fn function_of(metric: &Value) -> String {
    assert_eq!(metric["Dimensions"][0]["Name"], "Function", "{metric:?}");
    text(&metric["Dimensions"][0]["Value"])
}

/// The metrics of the dashboard, each with its function, or none for a search.
fn metrics_of_dashboard() -> Vec<(String, String)> {
    let mut read = Vec::new();
    for metric in dashboard_metrics() {
        match metric[0].as_str() {
            Some(NAMESPACE) => {
                assert_eq!(metric[2], "Function", "{metric}");
                let function = metric[3].as_str().unwrap().trim_matches(['$', '{', '}']);
                read.push((metric[1].as_str().unwrap().to_owned(), function.to_owned()));
            }
            Some(_) => (),
            None => {
                let expression = metric[0]["expression"].as_str().unwrap();
                if expression.contains(&format!("{{{NAMESPACE},Function}}")) {
                    let (_, rest) = expression.split_once("MetricName=\"").unwrap();
                    let (name, _) = rest.split_once('"').unwrap();
                    read.push((name.to_owned(), String::new()));
                }
            }
        }
    }
    read
}

/// The metrics of every widget, as in the dashboard's body.
pub fn dashboard_metrics() -> Vec<JsonValue> {
    let body = text(&resources()["Dashboard"]["Properties"]["DashboardBody"]);
    let body: JsonValue = serde_json::from_str(&body).unwrap();
    let widgets = body["widgets"].as_array().unwrap().iter();
    widgets.flat_map(|widget| widget["properties"]["metrics"].as_array().unwrap().clone()).collect()
}

/// The functions whose metric, in Lambda's namespace, an alarm reads.
pub fn functions_watched_by(alarm: &str, metric_name: &str) -> BTreeSet<String> {
    let properties = &template::resources()[alarm]["Properties"];
    let metrics = properties["Metrics"].as_sequence().unwrap().iter();
    let metrics = metrics.map(|metric| &metric["MetricStat"]["Metric"]);
    let named = metrics.filter(|metric| metric["MetricName"] == *metric_name);
    named.map(|metric| text(&metric["Dimensions"][0]["Value"])).collect()
}
