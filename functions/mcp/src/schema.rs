//! Tool descriptions for the protocol. Argument descriptions come from the routes' parameters.

use std::sync::{Arc, LazyLock};

use rmcp::model::{Tool as ToolDescription, ToolAnnotations};
use serde_json::{Map, Value, json};
use shared::app::openapi;

use crate::{
    functions,
    tools::{MAX_NUMBERS, NUMBERS, TOOLS, Tool},
};

/// Default page size, smaller than the routes' because models pay for each row.
pub const DEFAULT_LIMIT: u32 = 20;

pub static TOOL_DESCRIPTIONS: LazyLock<Vec<ToolDescription>> = LazyLock::new(|| {
    let api = serde_json::to_value(openapi(functions())).expect("the description is valid JSON");
    TOOLS.iter().map(|tool| describe(tool, &api)).collect()
});

/// Maximum values listed for an argument, since agents pay for each word. An error states the rule.
const MAX_ENUM_VALUES: usize = 100;

/// Examples for arguments that have none in the API description, or one meant for programs.
const EXAMPLES: [(&str, &str); 5] = [
    ("defaultCountry", "GB"),
    ("tn", "+1 (416) 234-5678"),
    ("q", "bell canada"),
    ("rate_center", "MIAMI"),
    ("company", "AT&T Mobility"),
];

/// Route parameters that tools omit: formats are fixed, and agents do not need caching options or images.
const OMITTED_PARAMETERS: [&str; 5] = ["cache", "flags", "format", "column", "countryColumn"];

fn describe(tool: &'static Tool, api: &Value) -> ToolDescription {
    let annotations =
        ToolAnnotations::with_title(tool.title).read_only(true).idempotent(true).open_world(false);
    ToolDescription::new(tool.name, &*tool.description, Arc::new(input_schema(tool, api)))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(output_schema(tool, api)))
        .with_annotations(annotations)
}

/// The keywords in output schemas. The tool's description says the rest, and agents may pay for each word.
const STRUCTURE: [&str; 9] = [
    "type",
    "properties",
    "required",
    "items",
    "oneOf",
    "allOf",
    "$ref",
    "additionalProperties",
    "enum",
];

/// The schema of the route's response, with the components that it refers to. A selection of fields may leave out
/// required ones.
fn output_schema(tool: &Tool, api: &Value) -> Map<String, Value> {
    let method = if tool.takes_numbers { "post" } else { "get" };
    let content = &api["paths"][tool.path][method]["responses"]["200"]["content"];
    let mut schema = content["application/json"]["schema"].clone();
    let mut definitions = Map::new();
    add_definitions(&mut schema, api, &mut definitions);
    let mut schema = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("allOf".to_owned(), json!([schema])),
        ("$defs".to_owned(), definitions.into()),
    ]);
    if tool.path == "/v1/format" || tool.path == "/v1/lookup" {
        remove_required(&mut schema);
    }
    schema
}

/// Points references to the schema's own definitions, and adds these. Leaves out all that does not describe structure.
fn add_definitions(schema: &mut Value, api: &Value, definitions: &mut Map<String, Value>) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("type") || object.contains_key("$ref") {
                object.retain(|name, _| STRUCTURE.contains(&name.as_str()));
            }
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                let name = reference.rsplit('/').next().unwrap_or_default().to_owned();
                *reference = format!("#/$defs/{name}");
                if !definitions.contains_key(&name) {
                    let mut definition = api["components"]["schemas"][&name].clone();
                    definitions.insert(name.clone(), Value::Null);
                    add_definitions(&mut definition, api, definitions);
                    definitions.insert(name, definition);
                }
            }
            object.values_mut().for_each(|part| add_definitions(part, api, definitions));
        }
        Value::Array(parts) => {
            parts.iter_mut().for_each(|part| add_definitions(part, api, definitions));
        }
        _ => {}
    }
}

fn remove_required(schema: &mut Map<String, Value>) {
    if schema.get("required").is_some_and(Value::is_array) {
        schema.remove("required");
    }
    for part in schema.values_mut() {
        match part {
            Value::Object(object) => remove_required(object),
            Value::Array(parts) => {
                parts.iter_mut().filter_map(Value::as_object_mut).for_each(remove_required);
            }
            _ => {}
        }
    }
}

fn input_schema(tool: &Tool, api: &Value) -> Map<String, Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if tool.takes_numbers {
        properties.insert(NUMBERS.to_owned(), numbers_schema());
        required.push(NUMBERS);
    }
    let method = if tool.takes_numbers { "post" } else { "get" };
    let parameters = api["paths"][tool.path][method]["parameters"].as_array();
    for parameter in parameters.into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        if OMITTED_PARAMETERS.contains(&name) {
            continue;
        }
        if parameter["required"] == true {
            required.push(name);
        }
        properties.insert(name.to_owned(), argument_schema(name, parameter, api).into());
    }
    let mut schema = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.into()),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

pub fn known_arguments(tool: &Tool) -> Vec<&'static str> {
    let description = TOOL_DESCRIPTIONS.iter().find(|description| description.name == tool.name);
    let properties = description.and_then(|it| it.input_schema.get("properties"));
    let names = properties.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    names.map(String::as_str).collect()
}

/// The arguments that a call must have.
pub fn required_arguments(tool: &Tool) -> impl Iterator<Item = &'static str> {
    let description = TOOL_DESCRIPTIONS.iter().find(|description| description.name == tool.name);
    let required = description.and_then(|it| it.input_schema.get("required")?.as_array());
    required.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the JSON Schema for the numbers, which the route takes in a body.
fn numbers_schema() -> Value {
    json!({
        "type": "array",
        "items": { "type": "string", "minLength": 1 },
        "minItems": 1,
        "maxItems": MAX_NUMBERS,
        "description": "Phone numbers in any format",
        "examples": [["+1 (416) 234-5678", "020 7946 0958"]],
    })
}

fn argument_schema(name: &str, parameter: &Value, api: &Value) -> Map<String, Value> {
    let schema = &parameter["schema"];
    let reference = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    let schema = reference.and_then(|pointer| api.pointer(pointer)).unwrap_or(schema);
    let mut property = schema.as_object().cloned().unwrap_or_default();
    // Number formats such as `int32` do not matter to agents.
    property.remove("format");
    if property.get("enum").and_then(Value::as_array).is_some_and(|all| all.len() > MAX_ENUM_VALUES)
    {
        property.remove("enum");
    }
    let api_example = property.remove("example");
    let own_example = EXAMPLES.iter().find(|(argument, _)| *argument == name);
    if let Some(example) = own_example.map(|(_, example)| json!(example)).or(api_example) {
        property.insert("examples".to_owned(), json!([example]));
    }
    if name == "limit" {
        property.insert("default".to_owned(), json!(DEFAULT_LIMIT));
    }
    let description = match name {
        "version" => Some("Version of the data, from the hint on the previous page.".to_owned()),
        // Line breaks in doc comments are not significant.
        _ => parameter["description"].as_str().map(|text| text.replace('\n', " ")),
    };
    property.insert("description".to_owned(), json!(description));
    property
}
