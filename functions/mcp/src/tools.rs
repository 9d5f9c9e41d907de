//! The tools, with their descriptions and routes.

use std::sync::{Arc, LazyLock};

use rmcp::model::{Tool as ToolDescription, ToolAnnotations};
use serde_json::Value;
use shared::app::openapi;

use crate::{
    functions,
    schema::{input_schema, output_schema},
};

/// A tool that calls one route. Its arguments are the route's parameters.
#[derive(Debug)]
pub struct Tool {
    pub path: &'static str,
    /// `true` if it takes [`NUMBERS`](crate::schema::NUMBERS), which the route expects in a body.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
