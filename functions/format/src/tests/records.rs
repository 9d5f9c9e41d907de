//! Records for tests, as JSON over defaults, so that a new field does not touch the tests.

use numbering::{
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange, NpaNxx},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A record with `fields` in addition to, or instead of, its default ones.
fn record<T: DeserializeOwned>(mut defaults: Value, fields: Value) -> T {
    let Value::Object(fields) = fields else { panic!("{fields} is not an object") };
    defaults.as_object_mut().unwrap().extend(fields);
    serde_json::from_value(defaults).unwrap()
}

pub fn carrier(fields: Value) -> Carrier {
    let exchanges = json!({ "total": 0, "by_state": {} });
    record(json!({ "ocn": "6529", "country": "US", "exchanges": exchanges }), fields)
}

pub fn area_code(npa: &str, fields: Value) -> AreaCode {
    record(json!({ "npa": npa, "country": "US", "total_exchanges": 1 }), fields)
}

/// An assigned exchange in Valdez.
pub fn exchange(npa_nxx: &str, fields: Value) -> Exchange {
    let NpaNxx { npa, nxx } = npa_nxx.parse().unwrap();
    let defaults = json!({
        "npa": npa, "nxx": nxx, "ocn": "6872", "rate_center": "VALDEZ", "country": "US", "status": "ASSIGNED"
    });
    record(defaults, fields)
}

/// An exchange with a block in Juneau that is effective from July 1, 2026.
pub fn pooled_exchange() -> Exchange {
    let block = json!({ "ocn": "464D", "rate_center": "JUNEAU", "effective_date": "2026-07-01" });
    exchange("907-200", json!({ "state": "AK", "blocks": { "4": block } }))
}

pub fn dataset(
    carriers: impl Into<Vec<Carrier>>,
    area_codes: impl Into<Vec<AreaCode>>,
    exchanges: impl Into<Vec<Exchange>>,
) -> Dataset {
    Dataset::new(carriers.into(), area_codes.into(), exchanges.into())
}

/// The records in `records.json`.
pub fn all_kinds() -> Dataset {
    let records: Value = serde_json::from_str(include_str!("records.json")).unwrap();
    let [carriers, area_codes, exchanges] =
        ["carriers", "area_codes", "exchanges"].map(|kind| records[kind].clone());
    Dataset::new(
        serde_json::from_value(carriers).unwrap(),
        serde_json::from_value(area_codes).unwrap(),
        serde_json::from_value(exchanges).unwrap(),
    )
}
