//! Converts an OpenAPI 3.1 document to version 3.0.

use serde_json::{Map, Value, json};
use shared::json::change_objects;

/// Converts a document. Drops what version 3.0 cannot express: patterns for map keys, and additional schema examples.
pub fn convert(mut description: Value) -> Value {
    let schemas = description["components"]["schemas"].clone();
    rewrite(&mut description, &schemas);
    drop_unused_schemas(&mut description);
    description["openapi"] = json!("3.0.3");
    description["info"]["license"] =
        json!({ "name": "MIT", "url": "https://opensource.org/license/mit" });
    description
}

/// Drops schemas that are used only as inlined copies.
fn drop_unused_schemas(description: &mut Value) {
    let text = description.to_string();
    let is_used = |name: &str| text.contains(&format!(r##""#/components/schemas/{name}""##));
    if let Some(schemas) = description["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| is_used(name));
    }
}

fn rewrite(value: &mut Value, schemas: &Value) {
    change_objects(value, &mut |fields| rewrite_schema(fields, schemas));
}

fn rewrite_schema(schema: &mut Map<String, Value>, schemas: &Value) {
    schema.remove("propertyNames");
    if let Some(nullable) = nullable_schema(schema, schemas) {
        schema.remove("oneOf");
        schema.extend(nullable.as_object().cloned().unwrap_or_default());
        schema.insert("nullable".to_owned(), true.into());
    }
    if let Some(Value::Array(examples)) = schema.get_mut("examples") {
        let first = examples.drain(..).next();
        schema.remove("examples");
        schema.extend(first.map(|first| ("example".to_owned(), first)));
    }
    if let Some(types) = schema.get_mut("type").filter(|types| types.is_array()) {
        *types = first_non_null(types);
        schema.insert("nullable".to_owned(), true.into());
    }
    let is_nullable = schema.get("nullable") == Some(&Value::Bool(true));
    if let Some(Value::Array(values)) = schema.get_mut("enum").filter(|_| is_nullable) {
        values.push(Value::Null);
    }
    if schema.len() > 1
        && let Some(reference) = schema.remove("$ref")
    {
        schema.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    }
}

/// The alternative to `null` in a `oneOf`. A referenced schema is copied, since `nullable` has no effect on a
/// reference.
fn nullable_schema(schema: &Map<String, Value>, schemas: &Value) -> Option<Value> {
    let choices = schema.get("oneOf")?.as_array()?;
    choices.iter().find(|choice| choice["type"] == "null")?;
    let choice = choices.iter().find(|choice| choice["type"] != "null")?;
    let Some(reference) = choice["$ref"].as_str() else { return Some(choice.clone()) };
    let mut copy = schemas[reference.rsplit('/').next()?].clone();
    if let Some(description) = choice.get("description") {
        copy["description"] = description.clone();
    }
    Some(copy)
}

fn first_non_null(types: &Value) -> Value {
    let mut names = types.as_array().into_iter().flatten();
    names.find(|name| *name != "null").cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert_schema(mut schema: Value) -> Value {
        rewrite(&mut schema, &json!({ "Country": { "type": "string", "enum": ["US", "CA"] } }));
        schema
    }

    #[test]
    fn null_becomes_nullable() {
        assert_eq!(
            convert_schema(json!({ "type": ["string", "null"], "examples": ["CA", "NY"] })),
            json!({ "type": "string", "nullable": true, "example": "CA" })
        );
        let country = json!({ "$ref": "#/components/schemas/Country", "description": "Holder's" });
        assert_eq!(
            convert_schema(json!({ "oneOf": [{ "type": "null" }, country] })),
            json!({
                "type": "string", "enum": ["US", "CA", null], "description": "Holder's", "nullable": true
            })
        );
        let choice = json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] });
        assert_eq!(convert_schema(choice.clone()), choice);
    }

    #[test]
    fn schemas_used_only_as_copies_are_dropped() {
        let nullable =
            json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/A" }] });
        let schemas = json!({ "A": { "type": "object" }, "B": { "type": "object" } });
        let rewritten = convert(json!({
            "info": {}, "a": nullable, "b": { "$ref": "#/components/schemas/B" },
            "components": { "schemas": schemas }
        }));
        assert_eq!(rewritten["components"]["schemas"], json!({ "B": { "type": "object" } }));
        assert_eq!(rewritten["a"], json!({ "type": "object", "nullable": true }));
    }
}
