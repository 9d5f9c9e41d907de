//! Keys, headers and the 304 response, which the layers around all handlers add; and enums in responses, which clients must
//! expect to grow. Enums in requests stay closed, because the service rejects other values.

use std::{collections::BTreeSet, iter};

use serde_json::{Map, Value, json};
use shared::{
    errors::{SharedResponse, shared_responses},
    quota::LimitType,
};

use super::{needs_key, operations};

/// Security schemes, headers and the parameters of every operation.
const COMPONENTS: &str = include_str!("components.json");

/// Headers in every response. Those for browsers and caches alone are not described.
const RESPONSE_HEADERS: [&str; 2] = ["X-Request-Id", "Cache-Control"];

/// Headers that only some 200 responses have, and thus some 304 responses.
const OPTIONAL_HEADERS: [&str; 4] =
    ["Link", "Content-Disposition", "X-Data-Version", "X-Numbering-Data"];

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
        let responses = operation["responses"].as_object_mut().expect("an operation has responses");
        for (status, response) in responses.iter_mut() {
            if response["$ref"].is_null() {
                let own = response["headers"].as_object().into_iter().flatten();
                let mut names: Vec<String> = own.map(|(name, _)| name.clone()).collect();
                names.extend(header_names(status, has_key, is_conditional).map(str::to_owned));
                let for_lists = [("Link", is_paged), ("Content-Disposition", has_csv)];
                let for_lists = for_lists.iter().filter(|(_, is_list)| status == "200" && *is_list);
                names.extend(for_lists.map(|(name, _)| (*name).to_owned()));
                response["headers"] = header_references(names.iter().map(String::as_str));
            }
        }
        if is_conditional {
            responses.insert("304".to_owned(), reference("responses", NOT_MODIFIED));
        }
        responses.sort_keys();
    }
    let mut components: Value = serde_json::from_str(COMPONENTS).expect("the components are JSON");
    for section in ["securitySchemes", "headers", "parameters"] {
        description["components"][section] = components[section].take();
    }
    description["components"]["responses"] = shared_responses_with_headers().into();
}

const NOT_MODIFIED: &str = "NotModified";

/// The responses that operations share, by name. A header may be absent, so all of them have those of a key's quotas.
fn shared_responses_with_headers() -> Map<String, Value> {
    let mut not_modified = json!({
        "description": "The response has not changed since the one whose `ETag` is in `If-None-Match`.",
    });
    let names = header_names("304", true, true).chain(OPTIONAL_HEADERS);
    not_modified["headers"] = header_references(names);
    let errors = shared_responses().map(|SharedResponse { name, status, response }| {
        let mut response = serde_json::to_value(response).expect("a response is JSON");
        response["headers"] = header_references(header_names(&status, true, true));
        (name, response)
    });
    iter::once((NOT_MODIFIED.to_owned(), not_modified)).chain(errors).collect()
}

fn header_references<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    names.map(|name| (name.to_owned(), reference("headers", name))).collect::<Map<_, _>>().into()
}

fn header_names(
    status: &str,
    has_key: bool,
    conditional: bool,
) -> impl Iterator<Item = &'static str> + use<> {
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
    names.into_iter()
}

fn reference(section: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{section}/{name}") })
}

/// The keyword for known values in
/// [Zalando's guidelines](https://opensource.zalando.com/restful-api-guidelines/#112).
pub const KNOWN_VALUES: &str = "x-extensible-enum";
const SCHEMAS: &str = "#/components/schemas/";
const MAX_LISTED_VALUES: usize = 12;

/// Opens every enum in responses. Enums that requests also use get open copies for responses.
pub fn open_response_enums(description: &mut Value) {
    let request_schemas = request_schemas(description);
    let Value::Object(schemas) = &mut description["components"]["schemas"] else { return };
    let is_enum = |name: &&String| schemas[*name].get("enum").is_some();
    let closed: BTreeSet<String> = request_schemas.iter().filter(is_enum).cloned().collect();
    for name in &closed {
        schemas.insert(open_name(name), schemas[name].clone());
    }
    schemas.sort_keys();
    for (_, schema) in schemas.iter_mut().filter(|(name, _)| !request_schemas.contains(*name)) {
        open_enums_in(schema, &closed);
    }
    for (_, _, operation) in operations(description) {
        open_enums_in(&mut operation["responses"], &closed);
    }
}

fn request_schemas(description: &mut Value) -> BTreeSet<String> {
    let mut waiting = Vec::new();
    for (_, _, operation) in operations(description) {
        waiting.extend(references_in(&operation["parameters"]));
        waiting.extend(references_in(&operation["requestBody"]));
    }
    let mut names = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if names.insert(name.clone()) {
            waiting.extend(references_in(&description["components"]["schemas"][name]));
        }
    }
    names
}

fn references_in(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(schema_name).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(references_in)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references_in).collect(),
        _ => Vec::new(),
    }
}

fn schema_name(reference: &Value) -> Option<&str> {
    reference.as_str()?.strip_prefix(SCHEMAS)
}

fn open_name(name: &str) -> String {
    format!("Open{name}")
}

/// Opens the enums in a schema, and references open copies of those that stay closed.
fn open_enums_in(value: &mut Value, closed: &BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            open_enum(fields);
            let name = fields.get("$ref").and_then(schema_name);
            if let Some(name) = name.filter(|name| closed.contains(*name)) {
                let reference = format!("{SCHEMAS}{}", open_name(name));
                fields.insert("$ref".to_owned(), reference.into());
            }
            fields.values_mut().for_each(|field| open_enums_in(field, closed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| open_enums_in(item, closed)),
        _ => (),
    }
}

/// Turns an enum into any string, and lists the known values in the description if they are few.
fn open_enum(schema: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = schema.remove("enum") else { return };
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut text = description.trim_end_matches('.').to_owned();
    if values.len() <= MAX_LISTED_VALUES {
        let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        text += &format!(": `{}`", names.join("`, `"));
    }
    schema.insert("description".to_owned(), (text + ". Later versions may add values.").into());
    schema.insert(KNOWN_VALUES.to_owned(), values.into());
}
