//! Imports, and the responses after them.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{
    CountryReport, Drift, Gate, ImportReport, IngestError, Options, Repair, country_sources,
    import_countries, ingest, verify,
};
use numbering::records::Version;
use serde_json::Value;
use store::{Store, Table};

use super::{
    service::Service,
    small_reports::{ReportSet, source},
};

/// Lookups whose responses differ between the small reports.
pub const LOOKUPS: [&str; 6] = [
    "/v1/npa/415?limit=100",
    "/v1/npa/415/nxx/206",
    "/v1/npa/415/nxx/207",
    "/v1/npa/415/nxx/209",
    "/v1/area-codes/416",
    "/v1/carrier/908K",
];
const LISTS: [&str; 4] = [
    "/v1/npa/416?limit=100",
    "/v1/carriers?limit=100",
    "/v1/search?q=sample&limit=100",
    "/v1/format/+14152075678",
];

/// Responses by target, each with its status.
pub type Responses = BTreeMap<String, (u16, Value)>;

/// The responses to these requests.
pub async fn responses_to<T: ToString>(
    service: &Service,
    targets: impl IntoIterator<Item = T>,
) -> Responses {
    let mut responses = Responses::new();
    for target in targets {
        let target = target.to_string();
        let (status, body) = service.get_json(&target).await;
        responses.insert(target, (status.as_u16(), body));
    }
    responses
}

/// Lookups and lists whose responses differ between the small reports.
pub async fn responses(service: &Service) -> Responses {
    responses_to(service, LOOKUPS.into_iter().chain(LISTS)).await
}

pub async fn import(
    store: &Store,
    reports: &ReportSet,
    options: Options,
) -> Result<ImportReport, IngestError> {
    ingest(store, &reports.sources(), options, |_| ()).await
}

/// Imports a file with British ranges.
pub async fn import_british(store: &Store, text: &str, options: Options) -> CountryReport {
    let sources = country_sources([], [("GB".parse().unwrap(), source(text))], None);
    let mut reports = import_countries(store, &sources, options, |_| ()).await.unwrap();
    reports.remove("GB").unwrap()
}

/// Asserts that no item differs from the current version.
pub async fn assert_no_drift(store: &Store) {
    let verification = verify(store, Repair::No, None, |_| ()).await.unwrap();
    assert_eq!(verification.drift, Drift::default());
}

/// Options that allow all gates.
pub fn without_gates() -> Options {
    Options { allow: Gate::ALL.iter().copied().collect(), ..Options::default() }
}

/// Deletes a version's first chunk.
pub async fn delete_chunk(store: &Store, version: &Version) {
    let (client, tables) = store.parts();
    let id = AttributeValue::S(format!("{version}#0000"));
    let delete = client.delete_item().table_name(tables.name(Table::Dataset)).key("id", id);
    delete.send().await.unwrap();
}
