//! `template.yaml`, parsed into resources, functions and routes.

use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as JsonValue};
use yaml_serde::Value;

/// The route for paths without their own route.
pub const DEFAULT_ROUTE: &str = "$default";

#[derive(Debug, Clone)]
pub struct Function {
    /// The name of its binary and folder, such as `npa`.
    pub binary: String,
    pub properties: Value,
}

#[derive(Debug, Clone)]
pub struct Route {
    /// The path as API Gateway writes it, such as `/v1/format/{tn+}`, or [`DEFAULT_ROUTE`].
    pub path: String,
    pub method: String,
    /// The binary of the function that serves it.
    pub function: String,
}

pub fn template() -> &'static Value {
    static TEMPLATE: LazyLock<Value> = LazyLock::new(|| {
        yaml_serde::from_str(include_str!("../../../../../template.yaml")).unwrap()
    });
    &TEMPLATE
}

pub fn resources() -> &'static Value {
    &template()["Resources"]
}

pub fn resources_of_type(kind: &str) -> Vec<(String, &'static Value)> {
    let resources = resources().as_mapping().unwrap().iter();
    let of_type = resources.filter(|(_, resource)| resource["Type"] == *kind);
    of_type.map(|(name, resource)| (text(name), resource)).collect()
}

/// All functions, including the import.
pub fn functions() -> Vec<Function> {
    let functions = resources_of_type("AWS::Serverless::Function").into_iter();
    functions
        .map(|(_, resource)| Function {
            binary: text(&resource["Metadata"]["BuildProperties"]["Binary"]),
            properties: resource["Properties"].clone(),
        })
        .collect()
}

/// The functions behind the API.
pub fn api_functions() -> Vec<Function> {
    functions().into_iter().filter(|function| !function.routes().is_empty()).collect()
}

pub fn routes() -> Vec<Route> {
    functions().iter().flat_map(Function::routes).collect()
}

impl Function {
    pub fn routes(&self) -> Vec<Route> {
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

/// A value's text, without the tag for a CloudFormation function such as `!Ref`.
pub fn text(value: &Value) -> String {
    match value {
        Value::Tagged(tagged) => text(&tagged.value),
        plain => plain.as_str().unwrap_or_else(|| panic!("{plain:?} is not text")).to_owned(),
    }
}

fn text_or(value: &Value, default: &str) -> String {
    if value.is_null() { default.to_owned() } else { text(value) }
}
