//! What the layers around all handlers add to each response: headers, and the 304 for a client that
//! has the response already.

use serde_json::{Value, json};
use shared::quota::{DAILY_HEADERS, MINUTE_HEADERS};

use super::{needs_key, operations};

/// The headers that all responses have.
const OF_EVERY_RESPONSE: [&str; 6] = [
    "X-Request-Id",
    "Cache-Control",
    "Vary",
    "X-Content-Type-Options",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
];

/// Adds the headers of each response, the 304, and the headers that every request may have.
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
            // After those that the handler itself sends.
            let mut headers = response["headers"].as_object().cloned().unwrap_or_default();
            headers.extend(names.map(|name| (name.to_owned(), reference("headers", name))));
            response["headers"] = headers.into();
        }
        add_request_headers(operation, is_conditional);
    }
    description["components"]["headers"] = headers();
    description["components"]["parameters"] = request_headers();
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

/// The headers that every request may have, by their names.
fn request_headers() -> Value {
    let header = |name: &str, description: &str| {
        let schema = json!({ "type": "string" });
        json!({
            "name": name, "in": "header", "required": false, "description": description,
            "schema": schema
        })
    };
    json!({
        "If-None-Match": header(
            "If-None-Match",
            "The `ETag` of a response that the client has. If the response is still the same, it is 304 \
             and has no body."
        ),
        "X-Request-Id": header(
            "X-Request-Id",
            "The client's own id of the request: a UUID, a trace id of 32 hexadecimal digits, or a \
             ULID. Any other text is replaced by a random id."
        )
    })
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
    // These are answered before a request is counted.
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

/// Every header, by its name.
fn headers() -> Value {
    let text = |description: &str, example: &str| json!({ "description": description, "schema": { "type": "string" }, "example": example });
    let count = |description: &str, example: i64| {
        json!({
            "description": description, "schema": { "type": "integer", "minimum": 0 }, "example": example
        })
    };
    json!({
        "Access-Control-Allow-Origin": text(
            "The origin whose pages may read the response; absent if the request has another one.",
            "*"
        ),
        "Access-Control-Expose-Headers": text("The headers that those pages may read.", "*"),
        "Allow": text("The methods that the endpoint supports.", "GET, HEAD, OPTIONS"),
        "Cache-Control": text(
            "Who may store the response: a shared cache for a minute (`public`), only the client \
             (`private`), or nobody (`no-store`).",
            "private"
        ),
        "Content-Disposition": text(
            "The name of the file under which browsers store a page of CSV; absent from one of JSON.",
            "attachment; filename=\"npa-415.csv\""
        ),
        "ETag": text(
            "Names this response. It changes with every version of the data, and whenever the \
             request or the body differs.",
            "W/\"6d2f0a6a2f8e4f7d9c31b7a05d1c9e42\""
        ),
        "Link": text(
            "The URLs of the next and the previous page (RFC 8288); absent if there is only one page.",
            "</v1/carriers?limit=50&offset=50&version=20261121T090003Z-5fGh2kLmN8pQrS1t>; rel=\"next\""
        ),
        "Retry-After": count(
            "The seconds after which a retry may succeed; absent if none ever does, since the request is for \
             more numbers than a quota has.",
            5
        ),
        "Vary": text("The request headers that the response depends on.", "Accept, Accept-Encoding"),
        "WWW-Authenticate": text("How to send a key (RFC 6750).", "Bearer realm=\"Telephone Number Reference Service\""),
        "X-Content-Type-Options": text("Forbids browsers to guess another type of the body.", "nosniff"),
        "X-RateLimit-Limit": count("Requests in 24 hours. Only for keys with such a quota.", 100_000),
        "X-RateLimit-Minute-Limit": count("Requests in a minute. Only for keys with such a quota.", 600),
        "X-RateLimit-Minute-Remaining": count("Requests that the quota of the minute still admits.", 599),
        "X-RateLimit-Minute-Reset": count("When more requests become available, in Unix seconds.", 1_795_244_460),
        "X-RateLimit-Remaining": count("Requests that the quota of 24 hours still admits.", 99_999),
        "X-RateLimit-Reset": count("When more requests become available, in Unix seconds.", 1_795_330_800),
        "X-Request-Id": text(
            "Names the request in the log of the service: the client's own `X-Request-Id`, or a new one.",
            "JKJaXmPLvHcESHA="
        )
    })
}
