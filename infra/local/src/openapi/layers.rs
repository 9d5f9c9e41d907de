//! Keys, headers and the 304 response, which the layers around all handlers add.

use serde_json::{Value, json};
use shared::quota::{DAILY_HEADERS, MINUTE_HEADERS};

use super::{needs_key, operations};

/// The three ways to send a key, and the headers of responses and requests (`parameters`).
const COMPONENTS: &str = include_str!("components.json");

/// Headers in every response.
const RESPONSE_HEADERS: [&str; 6] = [
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
        let is_conditional = method == "get";
        let parameters = operation["parameters"].as_array_mut().map(std::mem::take);
        let mut parameters = parameters.unwrap_or_default();
        let is_paged = parameters.iter().any(|parameter| parameter["name"] == "limit");
        let common = is_conditional.then_some("If-None-Match").into_iter().chain(["X-Request-Id"]);
        parameters.extend(common.map(|name| reference("parameters", name)));
        operation["parameters"] = parameters.into();
        let headers_of_success = operation["responses"]["200"]["headers"].clone();
        let responses = operation["responses"].as_object_mut().expect("an operation has responses");
        if is_conditional {
            let not_modified = "The response is the one whose `ETag` is in `If-None-Match`.";
            responses.insert(
                "304".to_owned(),
                json!({ "description": not_modified, "headers": headers_of_success }),
            );
        }
        responses.sort_keys();
        for (status, response) in responses {
            let names = headers_of(status, is_keyed, is_paged, is_conditional);
            // They follow the handler's own headers.
            let mut headers = response["headers"].as_object().cloned().unwrap_or_default();
            headers
                .extend(names.iter().map(|name| ((*name).to_owned(), reference("headers", name))));
            response["headers"] = headers.into();
        }
    }
    let mut components: Value = serde_json::from_str(COMPONENTS).expect("it is JSON");
    for kind in ["securitySchemes", "headers", "parameters"] {
        description["components"][kind] = components[kind].take();
    }
}

fn headers_of(status: &str, keyed: bool, paged: bool, conditional: bool) -> Vec<&'static str> {
    let mut names = RESPONSE_HEADERS.to_vec();
    if conditional && matches!(status, "200" | "304") {
        names.push("ETag");
    }
    // These responses precede the request count.
    if keyed && !matches!(status, "401" | "405") {
        names.extend(DAILY_HEADERS.into_iter().chain(MINUTE_HEADERS));
    }
    names.extend_from_slice(match status {
        "200" | "304" if paged => &["Link", "Content-Disposition"],
        "401" => &["WWW-Authenticate"],
        "405" => &["Allow"],
        "429" | "503" => &["Retry-After"],
        _ => &[],
    });
    names
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}
