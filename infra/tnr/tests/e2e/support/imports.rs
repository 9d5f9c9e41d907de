//! Imports, and the responses after them.

use std::collections::BTreeMap;

use ingest::{Drift, Gate, ImportReport, IngestError, Options, Repair, ingest, verify};
use serde_json::{Value, json};
use store::{Store, TimeoutProfile};

use super::{
    fault_proxy::{Fault, FaultProxy},
    service::Service,
    small_reports::ReportSet,
};

/// Looking up every record takes seconds, so only one in this many is looked up. The lists contain them all,
/// and [`assert_no_drift`] compares every item with the lists.
const LOOKUP_STEP: usize = 8;

/// API responses for the small reports: all lists, and lookups for some of their records.
pub async fn responses(service: &Service) -> BTreeMap<String, Value> {
    let mut responses = BTreeMap::new();
    let mut paths = vec!["/v1/stats".to_owned(), "/v1/search?q=sample&limit=100".to_owned()];
    for offset in [0, 100] {
        for npa in ["415", "416"] {
            let path = format!("/v1/npa/{npa}?limit=100&offset={offset}");
            let page = service.ok(&path).await;
            let nxxs = sample_codes(&page["exchanges"], "nxx");
            paths.extend(nxxs.iter().map(|nxx| format!("/v1/npa/{npa}/nxx/{nxx}")));
            responses.insert(path, page);
        }
        let path = format!("/v1/carriers?limit=100&offset={offset}");
        let page = service.ok(&path).await;
        let ocns = sample_codes(&page["carriers"], "ocn");
        paths.extend(ocns.iter().map(|ocn| format!("/v1/carrier/{ocn}")));
        responses.insert(path, page);
    }
    // Exchanges that only one version has.
    for nxx in ["206", "207", "209", "234"] {
        paths.push(format!("/v1/npa/415/nxx/{nxx}"));
        paths.push(format!("/v1/format/+1415{nxx}5678"));
    }
    for path in paths {
        let (status, body) = service.get_json(&path).await;
        responses.insert(path, json!({ "status": status.as_u16(), "body": body }));
    }
    // The import time differs even if the data is the same.
    responses.get_mut("/v1/stats").unwrap()["body"]["last_updated"].take();
    responses
}

/// The codes of some records in a list.
fn sample_codes(records: &Value, field: &str) -> Vec<String> {
    let sampled = records.as_array().unwrap().iter().step_by(LOOKUP_STEP);
    sampled.map(|record| record[field].as_str().unwrap().to_owned()).collect()
}

pub async fn import(
    store: &Store,
    reports: &ReportSet,
    options: Options,
) -> Result<ImportReport, IngestError> {
    ingest(store, &reports.sources(), options, |_| ()).await
}

/// Asserts that no item differs from the current version.
pub async fn assert_no_drift(store: &Store) {
    let verification = verify(store, Repair::No, None, |_| ()).await.unwrap();
    assert_eq!(verification.drift, Drift::default());
}

/// A store whose calls `policy` disrupts, and its proxy.
pub async fn store_with_faults(
    service: &Service,
    policy: impl Fn(usize, &str) -> Fault + Send + Sync + 'static,
) -> (Store, FaultProxy) {
    let proxy = FaultProxy::new(service.database.endpoint(), policy).await;
    (Store::connect_to_emulator(&proxy.endpoint, TimeoutProfile::Batch), proxy)
}

/// Options that allow all gates.
pub fn without_gates() -> Options {
    Options { allow: Gate::ALL.iter().copied().collect(), ..Options::default() }
}
