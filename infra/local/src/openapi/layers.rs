//! What the layers around all handlers add to each response: headers, and the 304 for a client that
//! has the answer already.

use serde_json::{Map, Value, json};

use super::{needs_key, operations};

/// The headers of each kind of response. `Link` is added to pages only.
const OF_EVERY_RESPONSE: [&str; 3] = ["X-Request-Id", "Cache-Control", "Vary"];
const OF_EVERY_SUCCESS: [&str; 1] = ["ETag"];
const OF_EVERY_KEY: [&str; 6] = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Minute-Limit",
    "X-RateLimit-Minute-Remaining",
    "X-RateLimit-Minute-Reset",
];

/// Adds the headers of each response, and the 304.
pub fn describe(description: &mut Value) {
    for (_, operation) in operations(description) {
        let is_keyed = needs_key(operation);
        let is_paged = has_parameter(operation, "limit");
        let responses = operation["responses"].as_object_mut().expect("an operation has responses");
        responses.insert(
            "304".to_owned(),
            json!({ "description": "The answer is the one whose `ETag` the request named in `If-None-Match`." }),
        );
        responses.sort_keys();
        for (status, response) in responses {
            let headers = headers_of(status, is_keyed, is_paged);
            let references: Map<String, Value> =
                headers.map(|name| (name.to_owned(), reference(name))).collect();
            response["headers"] = references.into();
        }
        add_if_none_match(operation);
    }
    description["components"]["headers"] = headers();
}

fn has_parameter(operation: &Value, name: &str) -> bool {
    let parameters = operation["parameters"].as_array();
    parameters.is_some_and(|parameters| parameters.iter().any(|one| one["name"] == name))
}

fn add_if_none_match(operation: &mut Value) {
    let parameter = json!({
        "name": "If-None-Match", "in": "header", "required": false, "schema": { "type": "string" },
        "description": "The `ETag` of an answer that the client has. If the answer is still the same, \
                        the response is 304 without a body."
    });
    match operation["parameters"].as_array_mut() {
        Some(parameters) => parameters.push(parameter),
        None => operation["parameters"] = json!([parameter]),
    }
}

fn headers_of(status: &str, is_keyed: bool, is_paged: bool) -> impl Iterator<Item = &'static str> {
    let is_success = matches!(status, "200" | "304");
    // A key is checked before its quota is counted.
    let is_counted = is_keyed && !matches!(status, "401" | "405");
    let of_status: &[&str] = match status {
        "200" | "304" if is_paged => &["Link"],
        "401" => &["WWW-Authenticate"],
        "405" => &["Allow"],
        "429" | "503" => &["Retry-After"],
        _ => &[],
    };
    let groups = [
        (true, &OF_EVERY_RESPONSE[..]),
        (is_success, &OF_EVERY_SUCCESS),
        (is_counted, &OF_EVERY_KEY),
        (true, of_status),
    ];
    groups.into_iter().filter(|(applies, _)| *applies).flat_map(|(_, names)| names.iter().copied())
}

fn reference(header: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{header}") })
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
        "Allow": text("The methods that the endpoint supports.", "GET, HEAD, OPTIONS"),
        "Cache-Control": text(
            "Who may store the response: a shared cache for a minute (`public`), only the client \
             (`private`), or nobody (`no-store`).",
            "private"
        ),
        "ETag": text(
            "Names this answer. It changes if the data, the request or the service changes so that the \
             answer does.",
            "W/\"6d2f0a6a2f8e4f7d9c31b7a05d1c9e42\""
        ),
        "Link": text(
            "The URLs of the next and the previous page (RFC 8288); absent if there is only one page.",
            "</v1/carriers?limit=50&offset=50&version=20261121T090003Z-5fGh2kLmN8pQrS1t>; rel=\"next\""
        ),
        "Retry-After": count("The seconds after which a retry may succeed.", 5),
        "Vary": text("The request headers that the answer depends on.", "Accept, Accept-Encoding"),
        "WWW-Authenticate": text("How to send a key (RFC 6750).", "Bearer realm=\"Telephone Number Reference Service\""),
        "X-RateLimit-Limit": count("Requests in 24 hours. Only for keys with such a quota.", 100_000),
        "X-RateLimit-Minute-Limit": count("Requests in a minute. Only for keys with such a quota.", 600),
        "X-RateLimit-Minute-Remaining": count("Requests left in this minute.", 599),
        "X-RateLimit-Minute-Reset": count("When more requests become available, in Unix seconds.", 1_795_244_460),
        "X-RateLimit-Remaining": count("Requests left in these 24 hours.", 99_999),
        "X-RateLimit-Reset": count("When more requests become available, in Unix seconds.", 1_795_330_800),
        "X-Request-Id": text(
            "Names the request in the log of the service: the client's own `X-Request-Id` if it has a \
             usual form, otherwise a new one.",
            "JKJaXmPLvHcESHA="
        )
    })
}
