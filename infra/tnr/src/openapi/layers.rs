//! Keys, headers and the 304 response, which the layers around all handlers add; and enums in responses, which clients must
//! expect to grow. Enums in requests stay closed, because the service rejects other values.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};
use shared::{json::change_objects, quota::LimitType};

use super::{needs_key, operations};

/// Security schemes, headers, the parameters of every operation, and the responses that operations share.
const COMPONENTS: &str = include_str!("components.json");

/// Adds response headers, the 304 response, common request headers, and the components.
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
        for (status, response) in responses.iter_mut().filter(|(_, it)| it["$ref"].is_null()) {
            let is_success = status == "200";
            // The handler's own headers come first.
            let own = response["headers"].take();
            let own = own.as_object().into_iter().flatten().map(|(name, _)| name.clone());
            let common = [
                ("X-Request-Id", true),
                ("Cache-Control", true),
                ("ETag", is_success && is_conditional),
                ("Retry-After", !is_success),
                ("Link", is_success && is_paged),
                ("Content-Disposition", is_success && has_csv),
            ];
            let common = common.into_iter().filter(|(_, is_sent)| *is_sent).map(|(name, _)| name);
            let quotas = LimitType::ALL.into_iter().rev().flat_map(LimitType::headers);
            let names = common.chain(quotas.filter(|_| has_key)).map(str::to_owned);
            let headers = own.chain(names).map(|name| {
                let reference = reference("headers", &name);
                (name, reference)
            });
            response["headers"] = headers.collect::<Map<_, _>>().into();
        }
        if is_conditional {
            responses.insert("304".to_owned(), reference("responses", "NotModified"));
        }
        responses.sort_keys();
    }
    let components: Map<String, Value> =
        serde_json::from_str(COMPONENTS).expect("the components are JSON");
    description["components"].as_object_mut().expect("schemas are components").extend(components);
    share_parameters(description);
}

/// Replaces parameters that several operations have with references to components. If different parameters have the same
/// name, only the first is a component.
fn share_parameters(description: &mut Value) {
    let mut uses: HashMap<String, u32> = HashMap::new();
    for_each_parameter(description, |parameter| {
        *uses.entry(parameter.to_string()).or_default() += 1;
    });
    let mut shared = description["components"]["parameters"].take();
    for_each_parameter(description, |parameter| {
        let Some(name) = parameter["name"].as_str().map(str::to_owned) else { return };
        if uses[&parameter.to_string()] > 1 {
            let component = &mut shared[&name];
            if component.is_null() {
                *component = parameter.clone();
            }
            if component == parameter {
                *parameter = reference("parameters", &name);
            }
        }
    });
    description["components"]["parameters"] = shared;
}

fn for_each_parameter(description: &mut Value, mut visit: impl FnMut(&mut Value)) {
    for (_, _, operation) in operations(description) {
        operation["parameters"].as_array_mut().into_iter().flatten().for_each(&mut visit);
    }
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
    change_objects(value, &mut |fields| {
        open_enum(fields);
        let name = fields.get("$ref").and_then(schema_name);
        if let Some(name) = name.filter(|name| closed.contains(*name)) {
            let reference = format!("{SCHEMAS}{}", open_name(name));
            fields.insert("$ref".to_owned(), reference.into());
        }
    });
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
