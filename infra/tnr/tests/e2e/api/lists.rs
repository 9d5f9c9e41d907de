//! Lists, searches and their pages.

use ingest::Options;
use reqwest::Response;
use serde_json::Value;

use crate::support::{
    imports::{import, without_gates},
    lists::{all_records, assert_page_sizes_agree},
    service::{Service, shared_service},
    small_reports::ReportSet,
};

#[tokio::test]
async fn the_sample_has_every_state_and_carrier_type() {
    let description = tnr::openapi::description();
    for (schema, target) in [
        ("StateCode", "/v1/search?limit=1&state="),
        ("CarrierType", "/v1/carriers?limit=1&type="),
        ("Status", "/v1/search?limit=1&status="),
    ] {
        for value in description["components"]["schemas"][schema]["enum"].as_array().unwrap() {
            let target = format!("{target}{}", value.as_str().unwrap());
            let body = shared_service().ok(&target).await;
            assert_ne!(body["pagination"]["total"], 0, "{target}");
        }
    }
}

#[tokio::test]
async fn every_page_size_yields_every_record_once_in_order() {
    let service = shared_service();
    assert_page_sizes_agree(service, "/v1/npa/416", "exchanges").await;
    assert_page_sizes_agree(service, "/v1/carriers", "carriers").await;
    assert_page_sizes_agree(service, "/v1/carriers?q=sample+te", "carriers").await;
    assert_page_sizes_agree(service, "/v1/search?q=sample%20wireless", "results").await;
}

/// The next page's path in the `Link` header.
fn next_path(response: &Response) -> Option<String> {
    let links = response.headers().get("link")?.to_str().unwrap();
    let link = links.split(", ").find(|link| link.ends_with("rel=\"next\""))?;
    Some(link.trim_start_matches('<').split('>').next().unwrap().to_owned())
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
        let (mut next, mut seen) = (Some(first.to_owned()), Vec::new());
        while let Some(path) = next {
            let response = service.get(&path).await;
            next = next_path(&response);
            let body: Value = response.json().await.unwrap();
            seen.extend(body[field].as_array().unwrap().iter().cloned());
            if seen.len() == 30 {
                // The version changes, and another container serves the next page.
                let store = service.database.store();
                import(&store, &ReportSet::second(), Options::default()).await.unwrap();
                service = service.restart().await;
            }
        }
        assert_eq!(seen, before, "{first}");
        let store = service.database.store();
        import(&store, &ReportSet::first(), without_gates()).await.unwrap();
        service = service.restart().await;
    }
}
