//! Changes name fields as the API description does, so that clients learn one set of names.

use std::collections::BTreeSet;

use numbering::{changes::RecordPair, records::Record};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tnr::openapi;

use super::openapi::resolve;

/// The names of a response's fields, dotted where nested. `*` stands for a map's keys.
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

/// The names of a new record's fields in a change.
fn changed_fields<T: DeserializeOwned>(kind: fn(T) -> Record, record: Value) -> BTreeSet<String> {
    let added = kind(serde_json::from_value(record).unwrap());
    let pair = RecordPair { key: added.key(), before: None, after: Some(added) };
    let names = pair.changed_fields().into_keys();
    names.map(|name| name.replace(".CA", ".*").replace(".5.", ".*.")).collect()
}

#[test]
fn changes_of_carriers_have_the_fields_of_a_carrier_and_its_usual_line() {
    let carrier = json!({
        "ocn": "6010", "company_name": "A", "common_name": "B", "carrier_type": "CLEC",
        "type_basis": "COMPANY_NAME", "family_line_type": "VOIP", "state": "CA", "country": "US",
        "exchanges": { "total": 1, "by_state": { "CA": 1 } }
    });
    let line = ["line.type", "line.basis"].map(str::to_owned);
    assert!(line.iter().all(|name| response_fields("FormatResult").contains(name)));
    let expected = &response_fields("CarrierDetail") | &line.into();
    assert_eq!(changed_fields(Record::Carrier, carrier), expected);
}

#[test]
fn changes_of_exchanges_have_the_fields_of_a_search_result_and_of_its_blocks() {
    let mut exchange = json!({
        "npa": "415", "nxx": "200", "ocn": "6010", "company_name": "A", "carrier_type": "CLEC",
        "rate_center": "SNFC", "state": "CA", "country": "US", "status": "ASSIGNED"
    });
    exchange["blocks"]["5"] = json!({
        "ocn": "6010", "company_name": "A", "carrier_type": "CLEC", "rate_center": "SNFC",
        "effective_date": "2026-01-01"
    });
    // The block's digit is part of the name, and its status follows from the date.
    let blocks = response_fields("BlockRow").into_iter();
    let blocks = blocks.filter(|name| !matches!(name.as_str(), "block" | "status"));
    let blocks = blocks.map(|name| format!("blocks.*.{name}")).collect();
    let expected = &response_fields("FoundExchange") | &blocks;
    assert_eq!(changed_fields(Record::Exchange, exchange), expected);
}

#[test]
fn changes_of_area_codes_have_the_fields_of_an_area_code() {
    // These describe the code's exchanges, which have changes of their own.
    const OF_EXCHANGES: [&str; 6] = [
        "exchanges_by_status",
        "total_rate_centers",
        "rate_centers",
        "total_holders",
        "holders",
        "time_zones",
    ];
    let mut area_code = json!({
        "npa": "415", "state": "CA", "states": ["CA"], "country": "US", "total_exchanges": 1,
        "service": "GEOGRAPHIC", "plan_country": "US", "assigned_on": "1946-01-01",
        "is_in_service": true, "in_service_on": "1947-01-01", "parent": "212", "overlay": ["628"],
        "has_several_time_zones": true, "notes": "A",
        "relief": {
            "is_in_jeopardy": true, "is_in_progress": true, "status": "A", "planning_letters": ["1"]
        }
    });
    for call in ["home_local", "home_toll", "foreign_local", "foreign_toll", "notes"] {
        area_code["dialing"][call] = "10D".into();
    }
    let mut expected = response_fields("AreaCodeDetail");
    expected.retain(|name| !OF_EXCHANGES.contains(&name.split('.').next().unwrap()));
    assert_eq!(changed_fields(Record::AreaCode, area_code), expected);
}
