//! Keys, headers and the 304 response, which the layers around all handlers add.

use serde_json::{Value, json};
use shared::quota::LimitType;

use super::{needs_key, operations};

/// Security schemes, headers and common parameters.
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
        let has_key = needs_key(operation);
        let is_conditional = method == "get";
        let mut parameters = match operation["parameters"].take() {
            Value::Array(parameters) => parameters,
            _ => Vec::new(),
        };
        let takes = |name: &str| parameters.iter().any(|parameter| parameter["name"] == name);
        let [is_paged, has_csv] = ["limit", "format"].map(takes);
        let common = is_conditional.then_some("If-None-Match").into_iter().chain(["X-Request-Id"]);
        parameters.extend(common.map(|name| reference("parameters", name)));
        operation["parameters"] = parameters.into();
        let not_modified = json!({
            "description": "The response has not changed since the one whose `ETag` is in `If-None-Match`.",
            "headers": operation["responses"]["200"]["headers"],
        });
        let responses = operation["responses"].as_object_mut().expect("an operation has responses");
        if is_conditional {
            responses.insert("304".to_owned(), not_modified);
        }
        responses.sort_keys();
        for (status, response) in responses {
            // The handler's own headers come first.
            let mut headers = response["headers"].as_object().cloned().unwrap_or_default();
            let is_success = matches!(status.as_str(), "200" | "304");
            let for_lists = [("Link", is_paged), ("Content-Disposition", has_csv)];
            let for_lists = for_lists.iter().filter(|(_, is_list)| is_success && *is_list);
            let names = header_names(status, has_key, is_conditional).into_iter();
            for name in names.chain(for_lists.map(|(name, _)| *name)) {
                headers.insert(name.to_owned(), reference("headers", name));
            }
            response["headers"] = headers.into();
        }
    }
    let mut components: Value = serde_json::from_str(COMPONENTS).expect("the components are JSON");
    for section in ["securitySchemes", "headers", "parameters"] {
        description["components"][section] = components[section].take();
    }
}

fn header_names(status: &str, has_key: bool, conditional: bool) -> Vec<&'static str> {
    let mut names = RESPONSE_HEADERS.to_vec();
    if conditional && matches!(status, "200" | "304") {
        names.push("ETag");
    }
    // These errors occur before the quota is known.
    if has_key && !matches!(status, "401" | "405") {
        names.extend(LimitType::ALL.into_iter().rev().flat_map(LimitType::headers));
    }
    names.extend_from_slice(match status {
        "401" => &["WWW-Authenticate"],
        "405" => &["Allow"],
        "429" | "503" => &["Retry-After"],
        _ => &[],
    });
    names
}

fn reference(section: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{section}/{name}") })
}
