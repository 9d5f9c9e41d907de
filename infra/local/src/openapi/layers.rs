//! Keys, headers and the 304 response, which the layers around all handlers add.

use serde_json::{Value, json};
use shared::quota::{DAILY_HEADERS, MINUTE_HEADERS};

use super::{needs_key, operations};

/// The three ways to send a key, and the headers of responses and requests (`parameters`).
const COMPONENTS: &str = include_str!("components.json");

/// Headers in every response.
const OF_EVERY_RESPONSE: [&str; 6] = [
    "X-Request-Id",
    "Cache-Control",
    "Vary",
    "X-Content-Type-Options",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
];

/// Adds response headers, the 304 response, and common request headers.
pub fn describe(description: &mut Value) {
    for (_, method, operation) in operations(description) {
        let is_keyed = needs_key(operation);
        let is_paged = has_parameter(operation, "limit");
        let headers_of_success = operation["responses"]["200"]["headers"].clone();
        let responses = operation["responses"].as_object_mut().expect("an operation has responses");
        let is_conditional = method == "get";
        if is_conditional {
            let not_modified = "The response is the one whose `ETag` is in `If-None-Match`.";
            responses.insert(
                "304".to_owned(),
                json!({ "description": not_modified, "headers": headers_of_success }),
            );
        }
        responses.sort_keys();
        for (status, response) in responses {
            let names = headers_of(status, is_keyed, is_paged, is_conditional).into_iter();
            // They follow the handler's own headers.
            let mut headers = response["headers"].as_object().cloned().unwrap_or_default();
            headers.extend(names.map(|name| (name.to_owned(), reference("headers", name))));
            response["headers"] = headers.into();
        }
        add_request_headers(operation, is_conditional);
    }
    let mut components: Value = serde_json::from_str(COMPONENTS).expect("it is JSON");
    for kind in ["securitySchemes", "headers", "parameters"] {
        description["components"][kind] = components[kind].take();
    }
}

fn has_parameter(operation: &Value, name: &str) -> bool {
    let parameters = operation["parameters"].as_array();
    parameters.is_some_and(|parameters| parameters.iter().any(|one| one["name"] == name))
}

fn add_request_headers(operation: &mut Value, is_conditional: bool) {
    let names = is_conditional.then_some("If-None-Match").into_iter().chain(["X-Request-Id"]);
    let references: Vec<Value> = names.map(|name| reference("parameters", name)).collect();
    match operation["parameters"].as_array_mut() {
        Some(parameters) => parameters.extend(references),
        None => operation["parameters"] = json!(references),
    }
}

fn headers_of(
    status: &str,
    is_keyed: bool,
    is_paged: bool,
    is_conditional: bool,
) -> Vec<&'static str> {
    let mut names = OF_EVERY_RESPONSE.to_vec();
    if is_conditional && matches!(status, "200" | "304") {
        names.push("ETag");
    }
    // These responses precede the request count.
    if is_keyed && !matches!(status, "401" | "405") {
        names.extend(DAILY_HEADERS.into_iter().chain(MINUTE_HEADERS));
    }
    match status {
        "200" | "304" if is_paged => names.extend(["Link", "Content-Disposition"]),
        "401" => names.push("WWW-Authenticate"),
        "405" => names.push("Allow"),
        "429" | "503" => names.push("Retry-After"),
        _ => (),
    }
    names
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}
