//! Writes a description of version 3.1 in the words of version 3.0.

use serde_json::{Map, Value, json};

/// The description in version 3.0. What that version cannot say is left out: a pattern of the names
/// of a map, and more than one example of a schema.
pub fn of(mut description: Value) -> Value {
    rewrite(&mut description);
    description["openapi"] = json!("3.0.3");
    description["info"]["license"] =
        json!({ "name": "MIT", "url": "https://opensource.org/license/mit" });
    description
}

fn rewrite(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(rewrite);
            rewrite_schema(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        _ => (),
    }
}

fn rewrite_schema(schema: &mut Map<String, Value>) {
    schema.remove("propertyNames");
    if let Some(Value::Array(examples)) = schema.get_mut("examples") {
        let first = examples.drain(..).next();
        schema.remove("examples");
        schema.extend(first.map(|first| ("example".to_owned(), first)));
    }
    if let Some(Value::Array(types)) = schema.get("type") {
        let (null, other): (Vec<Value>, Vec<Value>) =
            types.clone().into_iter().partition(|name| name == "null");
        if let [only] = other.as_slice() {
            schema.insert("type".to_owned(), only.clone());
        }
        set_nullable(schema, !null.is_empty());
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf") {
        let (null, other): (Vec<Value>, Vec<Value>) =
            choices.clone().into_iter().partition(|choice| choice["type"] == "null");
        if !null.is_empty() {
            schema.remove("oneOf");
            // Beside `$ref` nothing else may stand.
            schema.insert("allOf".to_owned(), other.into());
        }
        set_nullable(schema, !null.is_empty());
    }
}

fn set_nullable(schema: &mut Map<String, Value>, is_nullable: bool) {
    if is_nullable {
        schema.insert("nullable".to_owned(), true.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(mut schema: Value) -> Value {
        rewrite(&mut schema);
        schema
    }

    #[test]
    fn null_becomes_nullable() {
        assert_eq!(
            rewritten(json!({ "type": ["string", "null"], "examples": ["CA", "NY"] })),
            json!({ "type": "string", "nullable": true, "example": "CA" })
        );
        let reference = json!({ "$ref": "#/components/schemas/Ocn" });
        assert_eq!(
            rewritten(json!({ "oneOf": [{ "type": "null" }, reference], "description": "Holder" })),
            json!({ "allOf": [reference], "description": "Holder", "nullable": true })
        );
        let choice = json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] });
        assert_eq!(rewritten(choice.clone()), choice);
    }
}
