//! Opens the enums in responses, because a client must accept values that a later version adds.
//! Request enums stay closed, because the service rejects other values.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::operations;

/// The known values of an open enum, as
/// [Zalando's guidelines](https://opensource.zalando.com/restful-api-guidelines/#112) name them.
pub const KNOWN_VALUES: &str = "x-extensible-enum";
const SCHEMAS: &str = "#/components/schemas/";
/// The maximum number of values in a description.
const MAX_LISTED: usize = 12;

/// Opens every enum in responses. Enums that requests also use get open copies for responses.
pub fn open(description: &mut Value) {
    let requested = requested_schemas(description);
    let Value::Object(schemas) = &mut description["components"]["schemas"] else { return };
    let is_enum = |name: &&String| schemas[*name].get("enum").is_some();
    let closed: BTreeSet<String> = requested.iter().filter(is_enum).cloned().collect();
    for name in &closed {
        schemas.insert(open_name(name), schemas[name].clone());
    }
    schemas.sort_keys();
    let answered = schemas.iter_mut().filter(|(name, _)| !requested.contains(*name));
    answered.for_each(|(_, schema)| open_within(schema, &closed));
    for (_, _, operation) in operations(description) {
        open_within(&mut operation["responses"], &closed);
    }
}

/// The names of the schemas used in parameters and request bodies.
fn requested_schemas(description: &mut Value) -> BTreeSet<String> {
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

/// The names of the schemas that a value refers to.
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

/// The name of an enum's open copy.
fn open_name(name: &str) -> String {
    format!("Open{name}")
}

/// Opens the enums within a schema, and refers to open copies where the original stays closed.
fn open_within(value: &mut Value, closed: &BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            open_enum(fields);
            let name = fields.get("$ref").and_then(schema_name);
            if let Some(name) = name.filter(|name| closed.contains(*name)) {
                let reference = format!("{SCHEMAS}{}", open_name(name));
                fields.insert("$ref".to_owned(), reference.into());
            }
            fields.values_mut().for_each(|field| open_within(field, closed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| open_within(item, closed)),
        _ => (),
    }
}

/// Turns an enum into any string, and describes the known values if there are few.
fn open_enum(schema: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = schema.remove("enum") else { return };
    let described = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut text = described.trim_end_matches('.').to_owned();
    if values.len() <= MAX_LISTED {
        let listed: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        text += &format!(": `{}`", listed.join("`, `"));
    }
    schema.insert("description".to_owned(), (text + ". Later versions may add values.").into());
    schema.insert(KNOWN_VALUES.to_owned(), values.into());
}
