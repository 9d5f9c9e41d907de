//! `template.yaml`, parsed into functions, routes and metrics.

use std::{collections::BTreeSet, sync::LazyLock};

use logging::NAMESPACE;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as JsonValue, json};
use yaml_serde::Value;

/// The route for all other paths.
pub const DEFAULT_ROUTE: &str = "$default";

pub struct Function {
    /// The name of the function's binary and folder, such as `npa`.
    pub binary: String,
    pub properties: Value,
}

#[derive(Debug, Clone)]
pub struct Route {
    /// The path in API Gateway's syntax, such as `/v1/format/{tn+}`, or [`DEFAULT_ROUTE`].
    pub path: String,
    pub method: String,
    /// The binary of the function that serves the route.
    pub function: String,
}

pub fn template() -> &'static Value {
    static TEMPLATE: LazyLock<Value> = LazyLock::new(|| {
        yaml_serde::from_str(include_str!("../../../../../template.yaml")).unwrap()
    });
    &TEMPLATE
}

fn resources_of_type(kind: &str) -> impl Iterator<Item = &'static Value> {
    let resources = template()["Resources"].as_mapping().unwrap().values();
    resources.filter(move |resource| resource["Type"] == *kind)
}

/// All functions, including the import.
pub fn functions() -> Vec<Function> {
    let functions = resources_of_type("AWS::Serverless::Function").map(|resource| Function {
        binary: text(&resource["Metadata"]["BuildProperties"]["Binary"]),
        properties: resource["Properties"].clone(),
    });
    functions.collect()
}

pub fn routes() -> Vec<Route> {
    functions().iter().flat_map(Function::routes).collect()
}

impl Function {
    fn routes(&self) -> Vec<Route> {
        let events = self.properties["Events"].as_mapping().into_iter().flatten();
        let http = events.map(|(_, event)| event).filter(|event| event["Type"] == "HttpApi");
        http.map(|event| Route {
            path: text_or(&event["Properties"]["Path"], DEFAULT_ROUTE),
            method: text_or(&event["Properties"]["Method"], "ANY"),
            function: self.binary.clone(),
        })
        .collect()
    }
}

/// The template's route for a path, and the route's parameters. API Gateway ignores a trailing slash.
pub fn route_for(path: &str) -> (String, Map<String, JsonValue>) {
    static ROUTER: LazyLock<matchit::Router<String>> = LazyLock::new(|| {
        let mut router = matchit::Router::new();
        for Route { path, .. } in routes().into_iter().filter(|route| route.path != DEFAULT_ROUTE) {
            let pattern = match path.rsplit_once('{').filter(|_| path.ends_with("+}")) {
                Some((before, name)) => format!("{before}{{*{}", name.replace('+', "")),
                None => path.clone(),
            };
            router.insert(pattern, path).unwrap();
        }
        router
    });
    let found = ROUTER.at(path).or_else(|_| ROUTER.at(path.strip_suffix('/').unwrap_or_default()));
    let Ok(found) = found else { return (DEFAULT_ROUTE.to_owned(), Map::new()) };
    let parameters = found.params.iter();
    let parameters = parameters.map(|(name, value)| (name.to_owned(), decode(value).into()));
    (found.value.clone(), parameters.collect())
}

/// Decodes URL-encoded text.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// A value's text, without the tag of a CloudFormation function such as `!Ref`.
pub fn text(value: &Value) -> String {
    match value {
        Value::Tagged(tagged) => text(&tagged.value),
        plain => plain.as_str().unwrap_or_else(|| panic!("{plain:?} is not text")).to_owned(),
    }
}

fn text_or(value: &Value, default: &str) -> String {
    if value.is_null() { default.to_owned() } else { text(value) }
}

/// The metric names that CloudWatch finds in a log line.
pub fn metrics_in(line: &JsonValue) -> BTreeSet<String> {
    let directive = &line["_aws"]["CloudWatchMetrics"][0];
    assert_eq!(directive["Namespace"], NAMESPACE, "{line}");
    assert_eq!(directive["Dimensions"], json!([["Function"]]), "{line}");
    let metrics = directive["Metrics"].as_array().unwrap().iter();
    metrics.map(|metric| metric["Name"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that a function's log line has all metrics that alarms use.
pub fn assert_has_alarm_metrics(line: &JsonValue, function: &str) {
    let alarms = include_str!("../../../../../monitoring.yaml");
    let mut read = Vec::new();
    collect_metrics(&yaml_serde::from_str(alarms).unwrap(), &mut read);
    let names = read.iter().filter(|(_, of)| of == function).map(|(name, _)| name);
    // In a loop, a name starts with a variable.
    let ends: BTreeSet<_> = names.map(|name| name.trim_start_matches("${Source}")).collect();
    let written = metrics_in(line);
    let is_written = |end: &&str| written.iter().any(|name| name.ends_with(end));
    assert!(!ends.is_empty() && ends.iter().all(is_written), "alarms read {ends:?} in {line}");
}

/// Collects the service's metrics that a part of an alarm uses, each with its function.
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
