//! Builds API Gateway events for requests.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::template::{DEFAULT_ROUTE, decode, route_for};
use tnr::openapi::sample_requests::SampleRequest;

/// The service's public domain.
pub const HOST: &str = "abcdef1234.execute-api.us-east-1.amazonaws.com";

pub fn events_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events")
}

/// An event without parameters or a body, as documented.
const EXAMPLE: &str = include_str!("../../../../../events/status/health.json");

/// An HTTP API event, in [payload format
/// 2.0](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
/// The path is decoded, a greedy path parameter includes slashes, and repeated query parameters are comma-separated.
pub fn http_api_event(request: &SampleRequest) -> Value {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let (route, path_parameters) = route_for(path);
    let route_key = if route == DEFAULT_ROUTE { route } else { format!("ANY {route}") };
    let mut event: Value = serde_json::from_str(EXAMPLE).unwrap();
    event["rawPath"] = decode(path).into();
    event["rawQueryString"] = query.into();
    event["routeKey"] = route_key.into();
    for (name, value) in &request.headers {
        event["headers"][name] = json!(value);
    }
    let (path, route_key) = (event["rawPath"].clone(), event["routeKey"].clone());
    let context = &mut event["requestContext"];
    context["routeKey"] = route_key;
    context["http"]["path"] = path;
    context["http"]["method"] = json!(request.method);
    for (name, parameters) in
        [("queryStringParameters", joined_parameters(query)), ("pathParameters", path_parameters)]
    {
        if !parameters.is_empty() {
            event[name] = parameters.into();
        }
    }
    if let Some(body) = &request.body {
        event["body"] = json!(body);
    }
    event
}

fn joined_parameters(query: &str) -> Map<String, Value> {
    let mut joined: Map<String, Value> = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let text = match joined.get(&*name) {
            Some(Value::String(before)) => format!("{before},{value}"),
            _ => value.into_owned(),
        };
        joined.insert(name.into_owned(), text.into());
    }
    joined
}
