//! Tool descriptions for the protocol. Arguments are described like the parameters of the routes.

use std::sync::{Arc, LazyLock};

use rmcp::model::{Tool as DescribedTool, ToolAnnotations};
use serde_json::{Map, Value, json};
use shared::app::openapi;

use crate::{
    functions,
    tools::{MAX_NUMBERS, NUMBERS, TOOLS, Tool},
};

/// Default page size. Models read the answers and seldom need as much as a program.
pub const DEFAULT_LIMIT: u32 = 20;

/// Every tool with the schema of its arguments.
pub static DESCRIBED_TOOLS: LazyLock<Vec<DescribedTool>> = LazyLock::new(|| {
    let api = serde_json::to_value(openapi(functions())).expect("a description is JSON");
    TOOLS.iter().map(|tool| described(tool, &api)).collect()
});

/// Longer lists of values are left out, since agents pay for each word of a schema. The error for an invalid value
/// states the rule.
const MAX_ENUM_VALUES: usize = 100;

/// Examples for arguments whose route has none, or only one for programs.
const EXAMPLES: [(&str, &str); 5] = [
    ("defaultCountry", "GB"),
    ("tn", "+1 (416) 234-5678"),
    ("q", "bell canada"),
    ("rate_center", "MIAMI"),
    ("company", "AT&T Mobility"),
];

/// Route parameters that tools do not take: the tool sets the format, and agents do not need caching options or images.
const HIDDEN_FROM_AGENTS: [&str; 5] = ["cache", "flags", "format", "column", "countryColumn"];

fn described(tool: &'static Tool, api: &Value) -> DescribedTool {
    let annotations =
        ToolAnnotations::with_title(tool.title).read_only(true).idempotent(true).open_world(false);
    DescribedTool::new(tool.name, &*tool.description, Arc::new(input_schema(tool, api)))
        .with_title(tool.title)
        .with_annotations(annotations)
}

/// The JSON Schema of a tool's arguments.
fn input_schema(tool: &Tool, api: &Value) -> Map<String, Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if tool.takes_numbers {
        properties.insert(NUMBERS.to_owned(), numbers());
        required.push(NUMBERS);
    }
    let method = if tool.takes_numbers { "post" } else { "get" };
    let parameters = api["paths"][tool.path][method]["parameters"].as_array();
    for parameter in parameters.into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        if HIDDEN_FROM_AGENTS.contains(&name) {
            continue;
        }
        if parameter["required"] == true {
            required.push(name);
        }
        properties.insert(name.to_owned(), property(name, parameter, api).into());
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

/// The argument names of a tool.
pub fn known_arguments(tool: &Tool) -> Vec<&'static str> {
    let described = DESCRIBED_TOOLS.iter().find(|described| described.name == tool.name);
    let properties = described.and_then(|described| described.input_schema.get("properties"));
    let names = properties.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    names.map(String::as_str).collect()
}

/// The JSON Schema of the argument the route takes in a body.
fn numbers() -> Value {
    json!({
        "type": "array",
        "items": { "type": "string", "minLength": 1 },
        "minItems": 1,
        "maxItems": MAX_NUMBERS,
        "description": "Phone numbers in any notation",
        "examples": [["+1 (416) 234-5678", "020 7946 0958"]],
    })
}

/// An argument's JSON Schema, with its type's schema inlined.
fn property(name: &str, parameter: &Value, api: &Value) -> Map<String, Value> {
    let schema = &parameter["schema"];
    let reference = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    let schema = reference.and_then(|pointer| api.pointer(pointer)).unwrap_or(schema);
    let mut property = schema.as_object().cloned().unwrap_or_default();
    // Only JSON's own number types matter to an agent.
    property.remove("format");
    if property.get("enum").and_then(Value::as_array).is_some_and(|all| all.len() > MAX_ENUM_VALUES)
    {
        property.remove("enum");
    }
    let of_tool = EXAMPLES.iter().find(|(argument, _)| *argument == name);
    let of_type = property.remove("example");
    if let Some(example) = of_tool.map(|(_, example)| json!(example)).or(of_type) {
        property.insert("examples".to_owned(), json!([example]));
    }
    if name == "limit" {
        property.insert("default".to_owned(), json!(DEFAULT_LIMIT));
    }
    property.insert("description".to_owned(), description_of(name, parameter));
    property
}

/// The description of an argument.
fn description_of(name: &str, parameter: &Value) -> Value {
    match name {
        "version" => {
            json!("Version of the data, as the last page of the list named it for this one.")
        }
        // Line breaks in a doc comment have no meaning.
        _ => parameter["description"].as_str().map(|text| text.replace('\n', " ")).into(),
    }
}
