//! The tools: their descriptions, routes and JSON Schemas. Arguments come from the routes' parameters. Results have no
//! schema, since each word costs tokens in every session.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool as ToolDescription, ToolAnnotations};
use serde_json::{Map, Value, json};
use shared::{
    app::openapi,
    described_params::{DescribedParam, described_params},
    errors::ApiError,
    params::unknown_name,
};

use crate::functions;

/// A tool that calls one of its routes, depending on the arguments.
#[derive(Debug)]
pub struct Tool {
    routes: Vec<ToolRoute>,
    /// The tool as agents see it, with its arguments.
    pub description: ToolDescription,
}

/// A route that a tool calls. Its parameters are the tool's arguments.
#[derive(Debug)]
pub struct ToolRoute {
    pub path: &'static str,
    arguments: Vec<String>,
    required: Vec<String>,
}

/// All tools, in order. In the file, each has its name, methods and paths, then its title, then its description.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let api = serde_json::to_value(openapi(functions())).expect("the description is valid JSON");
    let tools =
        include_str!("tools.txt").split("\n\n").map(|paragraph| parse_tool(paragraph, &api));
    tools.collect::<Option<_>>().expect("the file is valid, as a test checks")
});

fn parse_tool(paragraph: &'static str, api: &Value) -> Option<Tool> {
    let mut lines = paragraph.lines();
    let mut words = lines.next()?.split(' ');
    let name = words.next()?;
    let (mut routes, mut properties) = (Vec::new(), Map::new());
    while let (Some(method), Some(path)) = (words.next(), words.next()) {
        routes.push(ToolRoute::new(api, method, path, &mut properties));
    }
    let title = lines.next()?;
    let text = lines.collect::<Vec<_>>().join(" ");
    let [first, others @ ..] = &*routes else { return None };
    let is_always_required = |name: &&String| others.iter().all(|it| it.required.contains(name));
    let required: Vec<&String> = first.required.iter().filter(is_always_required).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let description = ToolDescription::new(name, text, Arc::new(schema.as_object()?.clone()))
        .with_title(title)
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    Some(Tool { routes, description })
}

impl ToolRoute {
    /// Creates a route, and adds its arguments to the schemas of the tool's.
    fn new(
        api: &Value,
        method: &str,
        path: &'static str,
        properties: &mut Map<String, Value>,
    ) -> Self {
        let (mut arguments, mut required) = (Vec::new(), Vec::new());
        if method == "POST" {
            properties.insert(NUMBERS.to_owned(), numbers_schema());
            arguments.push(NUMBERS.to_owned());
            required.push(NUMBERS.to_owned());
        }
        let method = method.to_lowercase();
        let params = described_params(api, path, &method);
        for param in params.filter(|param| !OMITTED_PARAMETERS.contains(&param.name)) {
            properties.entry(param.name).or_insert_with(|| Value::Object(argument_schema(&param)));
            arguments.push(param.name.to_owned());
            required.extend(param.is_required.then(|| param.name.to_owned()));
        }
        Self { path, arguments, required }
    }

    pub fn takes(&self, argument: &str) -> bool {
        self.arguments.iter().any(|name| name == argument)
    }
}

impl Tool {
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name() == name)
    }

    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// The first route that takes all of these arguments and requires no others.
    pub fn route_for(&self, arguments: &JsonObject) -> Result<&ToolRoute, ApiError> {
        let known: Vec<&str> =
            self.routes.iter().flat_map(|route| &route.arguments).map(String::as_str).collect();
        if let Some(unknown) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(unknown_name("argument", unknown, "tool", &known));
        }
        let takes_all = |route: &&ToolRoute| arguments.keys().all(|name| route.takes(name));
        let possible: Vec<&ToolRoute> = self.routes.iter().filter(takes_all).collect();
        let missing = |route: &&ToolRoute| {
            let names = route.required.iter().filter(|name| !arguments.contains_key(*name));
            names.cloned().collect::<Vec<_>>().join(" and ")
        };
        if let Some(route) = possible.iter().find(|route| missing(route).is_empty()) {
            return Ok(route);
        }
        Err(ApiError::invalid(if possible.is_empty() {
            let choices = self.routes.iter().map(|route| route.arguments.join(", "));
            let given = arguments.keys().cloned().collect::<Vec<_>>().join(" and ");
            let choices = choices.collect::<Vec<_>>().join("; or ");
            format!("{given} cannot be combined; use some of {choices}")
        } else {
            let missing: Vec<String> = possible.iter().map(missing).collect();
            format!("{} is required", missing.join(" or "))
        }))
    }
}

/// The argument with phone numbers, which routes expect in a body.
pub const NUMBERS: &str = "numbers";
/// Maximum numbers per call, since each costs a model a few hundred tokens.
pub const MAX_NUMBERS: usize = 25;

/// Default page size, smaller than the routes' because each row costs tokens.
pub const DEFAULT_LIMIT: u32 = 20;

/// Maximum values listed for an argument, since each word costs tokens. An error states the rule.
const MAX_ENUM_VALUES: usize = 20;

/// Examples for arguments that have none in the API description, or one meant for programs.
const EXAMPLES: [(&str, &str); 6] = [
    ("defaultCountry", "GB"),
    ("tn", "+1 (416) 234-5678"),
    ("q", "bell canada"),
    ("rate_center", "MIAMI"),
    ("company", "AT&T Mobility"),
    ("state", "CA"),
];

/// Route parameters that tools omit: formats are fixed, and agents do not need caching options or images.
const OMITTED_PARAMETERS: [&str; 5] = ["cache", "flags", "format", "column", "countryColumn"];

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
    let mut property = param.schema.clone();
    // Number formats such as `int32` do not matter to agents.
    property.remove("format");
    // The route checks versions and offsets.
    for rule in ["maximum", "maxLength", "pattern"] {
        property.remove(rule);
    }
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
    fn every_tool_argument_has_a_type_and_a_description() {
        for tool in TOOLS.iter() {
            for (name, argument) in tool.description.input_schema["properties"].as_object().unwrap()
            {
                let is_described =
                    argument["description"].is_string() && argument["type"].is_string();
                assert!(is_described, "{} {name}: {argument}", tool.name());
            }
        }
    }

    #[test]
    fn arguments_are_required_if_every_route_of_the_tool_requires_them() {
        for (tool, required) in [
            ("lookup_block", json!(["tn"])),
            ("list_blocks", json!(["npa", "nxx"])),
            ("get_carriers", Value::Null),
            ("list_holders", Value::Null),
        ] {
            let schema = &Tool::named(tool).unwrap().description.input_schema;
            assert_eq!(schema.get("required").unwrap_or(&Value::Null), &required, "{tool}");
        }
    }

    /// A model reads both in every session.
    #[test]
    fn descriptions_and_instructions_have_at_most_20_kilobytes() {
        let tools = json!(TOOLS.iter().map(|tool| &tool.description).collect::<Vec<_>>());
        let length = tools.to_string().len() + crate::server::INSTRUCTIONS.len();
        assert!(length <= 20_000, "{length}");
    }
}
