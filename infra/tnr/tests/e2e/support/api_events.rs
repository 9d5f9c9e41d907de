//! API Gateway events for requests.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::template::{DEFAULT_ROUTE, decode, route_for};
use tnr::openapi::sample_requests::SampleRequest;

/// The service's public domain.
pub const HOST: &str = "abcdef1234.execute-api.us-east-1.amazonaws.com";

pub fn events_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events")
}

/// An HTTP API event, in [payload format
/// 2.0](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
/// The path is decoded, a greedy path parameter includes slashes, and repeated query parameters are comma-separated.
pub fn http_api_event(request: &SampleRequest) -> Value {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let (route, path_parameters) = route_for(path);
    let route_key = if route == DEFAULT_ROUTE { route } else { format!("ANY {route}") };
    let path = decode(path);
    let mut headers = json!({
        "accept": "*/*",
        "host": HOST,
        "user-agent": "curl/8.5.0",
        "x-forwarded-for": "203.0.113.7",
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    });
    for (name, value) in &request.headers {
        headers[name] = json!(value);
    }
    let mut event = json!({
        "version": "2.0",
        "routeKey": route_key,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abcdef1234",
            "domainName": HOST,
            "domainPrefix": "abcdef1234",
            "http": {
                "method": request.method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "curl/8.5.0",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": route_key,
            "stage": "$default",
            "time": "21/Nov/2026:07:00:00 +0000",
            "timeEpoch": 1_795_244_400_000_i64,
        },
        "isBase64Encoded": false,
    });
    let query_parameters = joined_parameters(query);
    if !query_parameters.is_empty() {
        event["queryStringParameters"] = query_parameters.into();
    }
    if let Some(body) = &request.body {
        event["body"] = json!(body);
    }
    if !path_parameters.is_empty() {
        event["pathParameters"] = path_parameters.into();
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
