//! The OpenAPI description: generated from the routes, precise, and obeyed by every response.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};
use tnr::openapi;

use crate::support::description::violation;

/// The operations, by method and path.
fn operations() -> Vec<(String, Value)> {
    let description = openapi::description();
    let paths = description["paths"].as_object().unwrap();
    let item_operations = |(path, item): (&String, &Value)| {
        let operations = item.as_object().unwrap().iter();
        let named = operations.map(|(method, it)| (format!("{method} {path}"), it.clone()));
        named.collect::<Vec<_>>()
    };
    paths.iter().flat_map(item_operations).collect()
}

#[test]
fn every_operation_documents_its_access_errors_and_has_examples_of_its_bodies() {
    for (path, operation) in operations() {
        let responses = operation["responses"].as_object().unwrap();
        let mut expected = vec!["200", "405", "500", "503"];
        if openapi::needs_key(&operation) {
            expected.extend(["400", "401", "429"]);
        }
        // Requests with a body cannot be conditional. The body may be too long, or its type unsupported.
        let is_get = path.starts_with("get ");
        expected.extend(if is_get { &["304"][..] } else { &["413", "415"] });
        expected.retain(|status| !responses.contains_key(*status));
        assert!(expected.is_empty(), "{path} lacks {expected:?}");
        for (status, response) in responses {
            for (content_type, content) in response["content"].as_object().into_iter().flatten() {
                let has_example = !content["example"].is_null() || content["examples"].is_object();
                assert!(has_example, "{path} {status} {content_type}");
            }
        }
    }
}

/// Calls `check` with the location and value of every object in a description.
fn each_object(location: &str, value: &Value, check: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => {
            check(location, value);
            for (name, field) in fields {
                each_object(&format!("{location}/{name}"), field, check);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                each_object(&format!("{location}/{index}"), item, check);
            }
        }
        _ => (),
    }
}

/// Clients should not have to handle both a missing and a null field. Fields sent only on request are
/// exempt.
#[test]
fn no_field_is_both_optional_and_nullable() {
    const ON_REQUEST: [&str; 7] =
        ["reason", "line", "assignment", "timeZones", "callingHours", "place", "network"];
    let description = openapi::description();
    each_object("", &description["components"]["schemas"], &mut |location, schema| {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_required =
                schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
            let choices = property["oneOf"].as_array().into_iter().flatten();
            let is_nullable =
                property["type"].as_array().is_some_and(|all| all.contains(&json!("null")))
                    || choices.into_iter().any(|choice| choice["type"] == "null");
            let is_on_request = location == "/FormatResult" && ON_REQUEST.contains(&name.as_str());
            assert!(is_required || !is_nullable || is_on_request, "{location}/{name}");
        }
    });
}

/// Editors show a field on its own, so each one needs the caveat.
#[test]
fn every_carrier_field_of_a_number_mentions_porting() {
    for description in [openapi::description(), openapi::description_3_0()] {
        let mut found = BTreeSet::new();
        for (schema, definition) in description["components"]["schemas"].as_object().unwrap() {
            let properties = definition["properties"].as_object();
            // Porting does not affect a carrier's own data.
            let describes_number = properties.is_some_and(|fields| fields.contains_key("nxx"));
            for (name, property) in properties.into_iter().flatten().filter(|_| describes_number) {
                if ["carrier", "carrier_type", "company_name", "ocn"].contains(&name.as_str()) {
                    let text = property.to_string();
                    let mentions_porting = text.contains("assigned") && text.contains("ported");
                    assert!(mentions_porting, "{schema}.{name}: {text}");
                    found.insert(format!("{schema}.{name}"));
                }
            }
        }
        assert!(found.contains("FormatResult.carrier") && found.len() > 3, "{found:?}");
        assert!(description["info"]["description"].as_str().unwrap().contains("ported"));
    }
}

/// Replaces a value's references with what they refer to.
pub fn resolve(value: &Value, description: &Value) -> Value {
    match value {
        Value::Object(fields) => match fields.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let target = description.pointer(reference.trim_start_matches('#')).unwrap();
                resolve(target, description)
            }
            None => {
                let resolve_field =
                    |(name, field): (&String, &Value)| (name.clone(), resolve(field, description));
                Value::Object(fields.iter().map(resolve_field).collect())
            }
        },
        Value::Array(items) => items.iter().map(|item| resolve(item, description)).collect(),
        other => other.clone(),
    }
}

#[test]
fn response_enums_are_open_and_request_enums_closed() {
    for description in [openapi::description(), openapi::description_3_0()] {
        let (mut open, mut closed) = (0, 0);
        for (path, item) in description["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let location = format!("{method} {path}");
                let responses = resolve(&operation["responses"], &description);
                each_object(&location, &responses, &mut |location, schema| {
                    assert!(schema["enum"].is_null(), "{location} is closed");
                    open += usize::from(schema[openapi::KNOWN_VALUES].is_array());
                });
                for part in ["parameters", "requestBody"] {
                    let request_part = resolve(&operation[part], &description);
                    each_object(&location, &request_part, &mut |location, schema| {
                        assert!(schema[openapi::KNOWN_VALUES].is_null(), "{location} is open");
                        closed += usize::from(schema["enum"].is_array());
                    });
                }
            }
        }
        assert!(open > 100 && closed > 15, "{open} open, {closed} closed");
    }
}

/// Every test of a response relies on this check.
#[test]
fn responses_that_violate_the_description_are_detected() {
    let violates = |status: u16, header: &str, body: &Value| {
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (header.parse().unwrap(), HeaderValue::from_static("1")),
        ]);
        let (status, body) = (StatusCode::from_u16(status).unwrap(), body.to_string());
        violation(&Method::GET, "/v1/carrier/6010", status, &headers, body.as_bytes()).is_some()
    };
    let carrier = json!({
        "ocn": "6010", "company_name": "A", "common_name": null, "carrier_type": "CLEC", "state": "NY",
        "country": "US", "exchanges": { "total": 1, "by_state": { "NY": 1 } }
    });
    let with = |name: &str, value: Value| {
        let mut changed = carrier.clone();
        changed[name] = value;
        changed
    };
    let error = |error: &str| json!({ "error": error, "message": "No carrier found" });
    for (status, header, body, expected) in [
        (200, "etag", carrier.clone(), false),
        (200, "x-new", carrier.clone(), true),
        (201, "etag", carrier.clone(), true),
        (200, "etag", with("ocn", json!("601")), true),
        (200, "etag", with("state", json!("ZZ")), true),
        (200, "etag", with("country", json!(null)), true),
        (200, "etag", with("exchanges", json!({ "total": -1, "by_state": {} })), true),
        (200, "etag", with("exchanges", json!({ "total": 1 })), true),
        (200, "etag", with("more", json!(1)), true),
        (404, "x-request-id", error("not_found"), false),
        (404, "x-request-id", error("gone"), true),
    ] {
        assert_eq!(violates(status, header, &body), expected, "{status} {header} {body}");
    }
}
