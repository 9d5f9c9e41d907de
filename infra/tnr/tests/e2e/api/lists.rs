//! Tests lists, searches and their pages.

use std::collections::BTreeSet;

use ingest::Options;
use serde_json::Value;

use crate::support::{
    imports::{import, without_gates},
    service::{Service, header, shared_service},
    small_reports::ReportSet,
};

/// Reads a list in pages of `limit` records and returns all records. Every page must have the same total.
async fn all_records(service: &Service, path: &str, field: &str, limit: usize) -> Vec<Value> {
    let (mut records, mut total) = (Vec::new(), None);
    let separator = if path.contains('?') { '&' } else { '?' };
    loop {
        let offset = records.len();
        let body = service.ok(&format!("{path}{separator}limit={limit}&offset={offset}")).await;
        let page = &body["pagination"];
        assert_eq!((&page["limit"], &page["offset"]), (&limit.into(), &offset.into()));
        let total = total.get_or_insert(page["total"].clone());
        assert_eq!(*total, page["total"], "{path} at {offset}");
        let rows = body[field].as_array().unwrap();
        records.extend(rows.iter().cloned());
        if rows.len() < limit || *total == records.len() {
            assert_eq!(*total, records.len(), "{path} by {limit}");
            return records;
        }
    }
}

/// Asserts that pages of these sizes and of 100 records return every record once, in the same order.
pub async fn assert_page_sizes_agree(service: &Service, sizes: &[usize], path: &str, field: &str) {
    let expected = all_records(service, path, field, 100).await;
    let distinct: BTreeSet<String> = expected.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), expected.len(), "{path}");
    for &limit in sizes {
        assert_eq!(all_records(service, path, field, limit).await, expected, "{path} by {limit}");
    }
}

#[tokio::test]
async fn every_page_size_returns_every_record_once_in_order() {
    for (path, field) in [
        ("/v1/npa/415", "exchanges"),
        ("/v1/carriers?q=sample+te", "carriers"),
        ("/v1/search?q=sample%20wireless&state=NY", "results"),
        ("/v1/countries/GB/ranges", "ranges"),
        ("/v1/holders?country=GB", "holders"),
    ] {
        assert_page_sizes_agree(shared_service(), &[1, 7, 50], path, field).await;
    }
}

#[tokio::test]
async fn following_links_stays_on_one_version_during_an_import() {
    let mut service = Service::with_small_reports().await;
    for (list, first, field) in [
        ("/v1/npa/415", "/v1/npa/415?limit=10", "exchanges"),
        ("/v1/carriers", "/v1/carriers?limit=10", "carriers"),
        ("/v1/search?q=sample", "/v1/search?q=sample&limit=10&state=", "results"),
    ] {
        let before = all_records(&service, list, field, 100).await;
        let tag = header(service.get(first).await.headers(), "etag").to_owned();
        let (mut next, mut seen) = (Some(first.to_owned()), Vec::new());
        while let Some(path) = next {
            let response = service.get(&path).await;
            next = next_page(header(response.headers(), "link"));
            let body: Value = response.json().await.unwrap();
            seen.extend(body[field].as_array().unwrap().iter().cloned());
            if seen.len() == 30 {
                // The version changes, and a different container serves the next page.
                let store = service.database.store();
                import(&store, &ReportSet::second(), Options::default()).await.unwrap();
                service = service.restart().await;
                assert_ne!(header(service.get(first).await.headers(), "etag"), tag, "{first}");
            }
        }
        assert_eq!(seen, before, "{first}");
        let store = service.database.store();
        import(&store, &ReportSet::first(), without_gates()).await.unwrap();
        service = service.restart().await;
    }
}

/// The path of the next page in a `Link` header.
pub fn next_page(links: &str) -> Option<String> {
    let link = links.split(", ").find_map(|link| link.strip_suffix(">; rel=\"next\""))?;
    Some(link.trim_start_matches('<').to_owned())
}
