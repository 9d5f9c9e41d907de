//! Tests that the OpenAPI description is precise. `support/description.rs` compares every response with it.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header::CONTENT_TYPE};
use format::include::{EXTRAS, Extra};
use numbering::{changes::RecordPair, records::Record};
use serde_json::{Value, json};
use shared::json::change_objects;
use tnr::openapi;

use crate::support::description::violation;

/// The operations without references, by method and path.
fn operations() -> Vec<(String, Value)> {
    let description = openapi::description();
    let paths = description["paths"].as_object().unwrap();
    let item_operations = |(path, item): (&String, &Value)| {
        let operations = item.as_object().unwrap().iter();
        let named =
            operations.map(|(method, it)| (format!("{method} {path}"), resolve(it, &description)));
        named.collect::<Vec<_>>()
    };
    paths.iter().flat_map(item_operations).collect()
}

#[test]
fn operations_document_their_errors_and_have_examples() {
    for (path, operation) in operations() {
        let responses = operation["responses"].as_object().unwrap();
        let mut expected = vec!["200", "405", "500", "503"];
        if openapi::needs_key(&operation) {
            expected.extend(["400", "401", "429"]);
        }
        // Requests with a body are never conditional. The body may be too long, or of an unsupported type.
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

/// Clients should not have to handle both a missing and a null field. Fields sent only on request are
/// exempt.
#[test]
fn no_field_is_both_optional_and_nullable() {
    let mut schemas = openapi::description()["components"]["schemas"].take();
    for (schema, definition) in schemas.as_object_mut().unwrap() {
        change_objects(definition, &mut |fields| {
            let object = Value::from(fields.clone());
            for (name, property) in object["properties"].as_object().into_iter().flatten() {
                let required = object["required"].as_array();
                let is_required = required.is_some_and(|names| names.contains(&json!(name)));
                let choices = property["oneOf"].as_array().into_iter().flatten();
                let is_nullable =
                    property["type"].as_array().is_some_and(|all| all.contains(&json!("null")))
                        || choices.into_iter().any(|choice| choice["type"] == "null");
                let is_on_request = match schema.as_str() {
                    "FormatResult" => EXTRAS.iter().flat_map(Extra::fields).any(|it| it == name),
                    "ExchangeRow" | "FoundExchange" => name == "common_name",
                    _ => false,
                };
                assert!(is_required || !is_nullable || is_on_request, "{schema}.{name}");
            }
        });
    }
}

/// Editors show a field on its own, so each needs the caveat.
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

/// Replaces the references in a value with their targets.
fn resolve(value: &Value, description: &Value) -> Value {
    let mut resolved = value.clone();
    change_objects(&mut resolved, &mut |fields| {
        while let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
            let target = description.pointer(reference.trim_start_matches('#')).unwrap();
            fields.clone_from(target.as_object().unwrap());
        }
    });
    resolved
}

#[test]
fn response_enums_are_open_and_request_enums_closed() {
    for description in [openapi::description(), openapi::description_3_0()] {
        let (mut open, mut closed) = (0, 0);
        for item in description["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                let [responses, parameters, body] = ["responses", "parameters", "requestBody"]
                    .map(|part| resolve(&operation[part], &description).to_string());
                assert!(!responses.contains("\"enum\":"), "{responses} is closed");
                open += responses.matches(openapi::KNOWN_VALUES).count();
                for request in [parameters, body] {
                    assert!(!request.contains(openapi::KNOWN_VALUES), "{request} is open");
                    closed += request.matches("\"enum\":").count();
                }
            }
        }
        assert!(open > 100 && closed > 15, "{open} open, {closed} closed");
    }
}

/// Every response test relies on this check.
#[test]
fn responses_that_violate_the_description_are_detected() {
    let violates = |status: u16, headers: &[(&str, &'static str)], body: &Value| {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        let headers = HeaderMap::from_iter(headers);
        let (status, body) = (StatusCode::from_u16(status).unwrap(), body.to_string());
        violation(&Method::GET, "/v1/carrier/6010", status, &headers, body.as_bytes()).is_some()
    };
    let json_with = |name| [(CONTENT_TYPE.as_str(), "application/json"), (name, "1")];
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
        let found = violates(status, &json_with(header), &body);
        assert_eq!(found, expected, "{status} {header} {body}");
    }
    assert!(violates(200, &[], &carrier), "it has no Content-Type");
    assert!(violates(200, &[(CONTENT_TYPE.as_str(), "text/html")], &carrier));
}

/// The field names in a response, with dots where nested. `*` stands for the keys of a map.
fn response_fields(schema: &str) -> BTreeSet<String> {
    let description = openapi::description();
    let schema = resolve(&description["components"]["schemas"][schema], &description);
    let mut names = BTreeSet::new();
    collect_names("", &schema, &mut names);
    names
}

fn collect_names(name: &str, schema: &Value, names: &mut BTreeSet<String>) {
    let nested = |field: &str| [name, field].join(".").trim_start_matches('.').to_owned();
    let parts = ["allOf", "oneOf"].iter().flat_map(|key| schema[key].as_array()).flatten();
    parts.for_each(|part| collect_names(name, part, names));
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        collect_names(&nested(field), schema, names);
    }
    if schema["additionalProperties"].is_object() {
        collect_names(&nested("*"), &schema["additionalProperties"], names);
    }
    let is_value =
        schema["type"].is_array() || schema["type"].as_str().is_some_and(|it| it != "object");
    if is_value {
        names.insert(name.to_owned());
    }
}

/// The field names in the change that adds a record.
fn changed_fields(added: Record) -> BTreeSet<String> {
    let pair = RecordPair { key: added.key(), before: None, after: Some(added) };
    let names = pair.changed_fields().into_keys();
    names.map(|name| name.replace(".CA", ".*").replace(".5.", ".*.")).collect()
}

/// Clients need to learn only one set of names.
#[test]
fn changes_use_response_field_names() {
    let mut records: Value = serde_json::from_str(include_str!("changed_records.json")).unwrap();
    let line = ["line.type", "line.basis"].map(str::to_owned);
    assert!(line.iter().all(|name| response_fields("FormatResult").contains(name)));
    let expected = &response_fields("CarrierDetail") | &line.into();
    let carrier = serde_json::from_value(records["carrier"].take()).unwrap();
    assert_eq!(changed_fields(Record::Carrier(carrier)), expected);

    // The block's digit is part of the name, and the block's status follows from the date.
    let blocks = response_fields("BlockRow").into_iter();
    let blocks = blocks.filter(|name| !matches!(name.as_str(), "block" | "status"));
    let blocks = blocks.map(|name| format!("blocks.*.{name}")).collect();
    let mut expected = &response_fields("FoundExchange") | &blocks;
    // The carrier has its own change.
    expected.remove("common_name");
    let exchange = serde_json::from_value(records["exchange"].take()).unwrap();
    assert_eq!(changed_fields(Record::Exchange(exchange)), expected);

    // These fields describe the area code's exchanges, which have their own changes.
    let of_exchanges =
        "exchanges_by_status total_rate_centers rate_centers total_holders holders time_zones";
    let mut expected = response_fields("AreaCodeDetail");
    expected.retain(|name| {
        let field = name.split('.').next().unwrap();
        of_exchanges.split(' ').all(|of_exchanges| of_exchanges != field)
    });
    let area_code = serde_json::from_value(records["area_code"].take()).unwrap();
    assert_eq!(changed_fields(Record::AreaCode(area_code)), expected);
}
