//! A route's parameters as documented in the API description, for tools and commands that offer the same parameters.

use serde_json::{Map, Value};

/// A route parameter in the API description.
#[derive(Debug, Clone, Copy)]
pub struct DescribedParam<'a> {
    pub name: &'a str,
    pub is_required: bool,
    pub is_in_path: bool,
    description: &'a str,
    /// The schema, with any reference resolved.
    pub schema: &'a Map<String, Value>,
}

/// The parameters of an operation in the JSON of an API description.
pub fn described_params<'a>(
    api: &'a Value,
    path: &str,
    method: &str,
) -> impl Iterator<Item = DescribedParam<'a>> {
    let params = api["paths"][path][method]["parameters"].as_array().into_iter().flatten();
    params.filter_map(|param| {
        Some(DescribedParam {
            name: param["name"].as_str()?,
            is_required: param["required"] == true,
            is_in_path: param["in"] == "path",
            description: param["description"].as_str()?,
            schema: resolve(api, &param["schema"]).as_object()?,
        })
    })
}

fn resolve<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    let pointer = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| api.pointer(pointer)).unwrap_or(schema)
}

impl<'a> DescribedParam<'a> {
    /// The description as one line. Line breaks in doc comments are not significant.
    pub fn description(&self) -> String {
        self.description.replace('\n', " ")
    }

    /// The allowed values, if the schema has an enum.
    pub fn allowed_values(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let values = self.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        values.filter_map(Value::as_str)
    }
}
