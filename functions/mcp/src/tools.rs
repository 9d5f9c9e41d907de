//! The tools: their descriptions, routes and JSON Schemas. Arguments come from the routes' parameters, and results from
//! their responses.

use std::sync::{Arc, LazyLock};

use rmcp::model::{Tool as ToolDescription, ToolAnnotations};
use serde_json::{Map, Value, json};
use shared::{
    app::openapi,
    described_params::{DescribedParam, described_params},
};

use crate::functions;

/// A tool that calls one route. Its arguments are the route's parameters.
#[derive(Debug)]
pub struct Tool {
    pub path: &'static str,
    /// `true` if it takes [`NUMBERS`], which the route expects in a body.
    pub takes_numbers: bool,
    /// The tool as agents see it, with its arguments.
    pub description: ToolDescription,
}

/// All tools, in order. In the file, each has its name, method and path, then its title, then its description.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let api = serde_json::to_value(openapi(functions())).expect("the description is valid JSON");
    let tools =
        include_str!("tools.txt").split("\n\n").map(|paragraph| parse_tool(paragraph, &api));
    tools.collect::<Option<_>>().expect("the file is valid, as a test checks")
});

fn parse_tool(paragraph: &'static str, api: &Value) -> Option<Tool> {
    let mut lines = paragraph.lines();
    let (name, route) = lines.next()?.split_once(' ')?;
    let (method, path) = route.split_once(' ')?;
    let title = lines.next()?;
    let text = lines.collect::<Vec<_>>().join(" ");
    let method = method.to_lowercase();
    let arguments = input_schema(api, path, &method);
    let annotations =
        ToolAnnotations::with_title(title).read_only(true).idempotent(true).open_world(false);
    let description = ToolDescription::new(name, text, Arc::new(arguments))
        .with_title(title)
        .with_raw_output_schema(Arc::new(output_schema(api, path, &method)))
        .with_annotations(annotations);
    Some(Tool { path, takes_numbers: method == "post", description })
}

impl Tool {
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name() == name)
    }

    pub fn name(&self) -> &str {
        &self.description.name
    }

    pub fn known_arguments(&self) -> Vec<&str> {
        let properties = self.description.input_schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    pub fn required_arguments(&self) -> impl Iterator<Item = &str> {
        let required = self.description.input_schema.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str)
    }
}

/// The argument with phone numbers, which routes expect in a body.
pub const NUMBERS: &str = "numbers";
/// Maximum numbers per call, since each costs a model a few hundred tokens.
pub const MAX_NUMBERS: usize = 25;

/// Default page size, smaller than the routes' because models pay for each row.
pub const DEFAULT_LIMIT: u32 = 20;

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
fn output_schema(api: &Value, path: &str, method: &str) -> Map<String, Value> {
    let content = &api["paths"][path][method]["responses"]["200"]["content"];
    let mut schema = content["application/json"]["schema"].clone();
    let mut definitions = Map::new();
    let is_partial = described_params(api, path, method).any(|param| param.name == "fields");
    add_definitions(&mut schema, api, is_partial, &mut definitions);
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("allOf".to_owned(), json!([schema])),
        ("$defs".to_owned(), definitions.into()),
    ])
}

/// Points references to the schema's own definitions, and adds these. Leaves out all that does not describe structure.
fn add_definitions(
    schema: &mut Value,
    api: &Value,
    is_partial: bool,
    definitions: &mut Map<String, Value>,
) {
    if let Value::Object(object) = schema {
        // A field may be named `type`, and has a schema instead.
        let is_schema =
            object.get("type").is_some_and(|it| !it.is_object()) || object.contains_key("$ref");
        object.retain(|name, _| {
            !is_schema || STRUCTURE.contains(&name.as_str()) && !(is_partial && name == "required")
        });
        if let Some(Value::String(reference)) = object.get_mut("$ref") {
            let name = reference.rsplit('/').next().unwrap_or_default().to_owned();
            *reference = format!("#/$defs/{name}");
            if !definitions.contains_key(&name) {
                let mut definition = api["components"]["schemas"][&name].clone();
                definitions.insert(name.clone(), Value::Null);
                add_definitions(&mut definition, api, is_partial, definitions);
                definitions.insert(name, definition);
            }
        }
        object.values_mut().for_each(|part| add_definitions(part, api, is_partial, definitions));
    } else if let Value::Array(parts) = schema {
        parts.iter_mut().for_each(|part| add_definitions(part, api, is_partial, definitions));
    }
}

/// The schema of the arguments: the route's parameters, and the numbers in its body.
fn input_schema(api: &Value, path: &str, method: &str) -> Map<String, Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    if method == "post" {
        properties.insert(NUMBERS.to_owned(), numbers_schema());
        required.push(NUMBERS);
    }
    let params = described_params(api, path, method);
    for param in params.filter(|param| !OMITTED_PARAMETERS.contains(&param.name)) {
        required.extend(param.is_required.then_some(param.name));
        properties.insert(param.name.to_owned(), argument_schema(&param).into());
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

/// The schema of the numbers, which the route takes in a body.
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

fn argument_schema(param: &DescribedParam<'_>) -> Map<String, Value> {
    let mut property = param.schema().clone();
    // Number formats such as `int32` do not matter to agents.
    property.remove("format");
    if param.allowed_values().count() > MAX_ENUM_VALUES {
        property.remove("enum");
    }
    let api_example = property.remove("example");
    let own_example = EXAMPLES.iter().find(|(argument, _)| *argument == param.name);
    if let Some(example) = own_example.map(|(_, example)| json!(example)).or(api_example) {
        property.insert("examples".to_owned(), json!([example]));
    }
    if param.name == "limit" {
        property.insert("default".to_owned(), json!(DEFAULT_LIMIT));
    }
    let description = match param.name {
        "version" => "Version of the data, from the hint on the previous page.".to_owned(),
        _ => param.description(),
    };
    property.insert("description".to_owned(), json!(description));
    property
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_argument_has_a_short_description() {
        for tool in TOOLS.iter() {
            for (name, argument) in tool.description.input_schema["properties"].as_object().unwrap()
            {
                let is_described =
                    argument["description"].is_string() && argument["type"].is_string();
                assert!(is_described, "{} {name}: {argument}", tool.name());
            }
        }
        let number =
            Tool::named("format_number").unwrap().description.output_schema.clone().unwrap();
        for field in ["valid", "type", "carrier"] {
            let schema = &number["$defs"]["FormatResult"]["properties"][field];
            assert!(schema.is_object(), "{field}: {schema}");
        }
        // A model reads the whole list on every turn, but for the output schemas, which clients use.
        let mut tools = json!(TOOLS.iter().map(|tool| &tool.description).collect::<Vec<_>>());
        assert!(tools.to_string().len() < 60_000, "{}", tools.to_string().len());
        for tool in tools.as_array_mut().unwrap() {
            tool.as_object_mut().unwrap().remove("outputSchema").unwrap();
        }
        assert!(tools.to_string().len() < 20_500, "{}", tools.to_string().len());
    }
}
