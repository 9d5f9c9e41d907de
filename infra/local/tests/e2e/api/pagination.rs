//! Pages of lists, and the links between them.

use ingest::Options;
use reqwest::Response;
use serde_json::{Value, json};

use crate::support::{
    imports::{import, without_gates},
    lists::{all_records, assert_page_sizes_agree},
    service::{Service, shared_service},
    small_reports::ReportTexts,
};

#[tokio::test]
async fn pages_of_every_size_give_every_record_once_in_the_same_order() {
    let service = shared_service();
    assert_page_sizes_agree(service, "/v1/npa/416", "exchanges").await;
    assert_page_sizes_agree(service, "/v1/carriers", "carriers").await;
    assert_page_sizes_agree(service, "/v1/search?q=sample%20wireless", "results").await;
}

#[tokio::test]
async fn limit_defaults_to_50_and_is_at_most_100() {
    let service = shared_service();
    for (path, items) in [
        ("/v1/carriers?", "carriers"),
        ("/v1/npa/415?", "exchanges"),
        ("/v1/search?npa=415&", "results"),
    ] {
        for (query, limit) in [
            ("", 50),
            ("limit=1", 1),
            ("limit=100", 100),
            ("limit=101", 100),
            ("limit=99999999999999999999", 100),
        ] {
            let body = service.ok(&format!("{path}{query}")).await;
            assert_eq!(body["pagination"]["limit"], limit, "{path}{query}");
            assert_eq!(body[items].as_array().unwrap().len(), limit, "{path}{query}");
        }
    }
}

#[tokio::test]
async fn a_page_beyond_the_end_is_empty_and_has_the_total() {
    let body = shared_service().ok("/v1/carriers?offset=100000").await;
    assert_eq!(body["carriers"], json!([]));
    assert_eq!(body["pagination"], json!({ "limit": 50, "offset": 100000, "total": 165 }));
}

#[tokio::test]
async fn the_greatest_offset_comes_back_as_it_was_sent() {
    let service = shared_service();
    for path in ["/v1/carriers?", "/v1/npa/415?", "/v1/npa/415/nxx/234?", "/v1/search?npa=415&"] {
        let body = service.ok(&format!("{path}offset=9007199254740991")).await;
        assert_eq!(body["pagination"]["offset"], 9_007_199_254_740_991_u64, "{path}");
    }
}

#[tokio::test]
async fn links_lead_through_the_whole_list() {
    let service = shared_service();
    let mut next = Some("/v1/carriers?limit=50&state=&country=US".to_owned());
    let (mut seen, mut total) = (0, Value::Null);
    while let Some(path) = next {
        let response = service.get(&path).await;
        next = linked_path(&response, "next");
        let body: Value = response.json().await.unwrap();
        seen += body["carriers"].as_array().unwrap().len();
        total = body["pagination"]["total"].clone();
    }
    assert_eq!(total, seen);
}

#[tokio::test]
async fn wrong_limits_and_offsets_are_refused_by_name() {
    let service = shared_service();
    for path in [
        "/v1/carriers?",
        "/v1/npa/415?",
        "/v1/npa/415/nxx/234?",
        "/v1/npa?npa=415&",
        "/v1/search?npa=415&",
    ] {
        for (query, message) in [
            ("limit=0", "limit must be a positive integer, got '0'"),
            ("limit=-5", "limit must be a positive integer, got '-5'"),
            ("limit=ten", "limit must be a positive integer, got 'ten'"),
            ("limit=1.5", "limit must be a positive integer, got '1.5'"),
            (
                "offset=-1",
                "offset must be a non-negative integer of at most 9007199254740991, got '-1'",
            ),
            (
                "offset=99999999999999999999999",
                "offset must be a non-negative integer of at most 9007199254740991, \
                 got '99999999999999999999999'",
            ),
            ("limit=1&limit=2", "limit must be given once, got '1' and '2'"),
        ] {
            service.assert_error(&format!("{path}{query}"), 400, "invalid_request", message).await;
        }
    }
}

/// The path of the page that the `Link` header names with a relation, such as `next`.
fn linked_path(response: &Response, relation: &str) -> Option<String> {
    let links = response.headers().get("link")?.to_str().unwrap();
    let link = links.split(", ").find(|link| link.ends_with(&format!("rel=\"{relation}\"")))?;
    Some(link.trim_start_matches('<').split('>').next().unwrap().to_owned())
}

#[tokio::test]
async fn a_list_read_by_its_links_is_of_one_version_although_another_is_published() {
    let mut service = Service::with_small_reports().await;
    for (list, first, field) in [
        ("/v1/npa/415", "/v1/npa/415?limit=10", "exchanges"),
        ("/v1/carriers", "/v1/carriers?limit=10", "carriers"),
        ("/v1/search?q=sample", "/v1/search?q=sample&limit=10", "results"),
    ] {
        let before = all_records(&service, list, field, 100).await;
        let (mut next, mut seen) = (Some(first.to_owned()), Vec::new());
        while let Some(path) = next {
            let response = service.get(&path).await;
            next = linked_path(&response, "next");
            let body: Value = response.json().await.unwrap();
            seen.extend(body[field].as_array().unwrap().iter().cloned());
            if seen.len() == 30 {
                // The version changes, and the next page comes from another container.
                let store = service.database.store();
                import(&store, &ReportTexts::second(), Options::default()).await.unwrap();
                service = service.restarted().await;
            }
        }
        assert_eq!(seen, before, "{first}");
        let store = service.database.store();
        import(&store, &ReportTexts::first(), without_gates()).await.unwrap();
        service = service.restarted().await;
    }
}

#[tokio::test]
async fn a_version_that_is_not_retained_is_refused() {
    let message = "version '20200101T000000Z-0123456789abcdef' is no longer available; \
                   restart pagination without the version parameter";
    let path = "/v1/carriers?version=20200101T000000Z-0123456789abcdef";
    shared_service().assert_error(path, 400, "invalid_request", message).await;
}

#[tokio::test]
async fn a_malformed_version_is_told_its_form() {
    for list in ["/v1/carriers?", "/v1/npa/415?", "/v1/npa?npa=416&nxx=234&", "/v1/search?q=a&"] {
        let message = "version must be a version of the data as Link headers have it, such as \
                       '20261121T090003Z-5fGh2kLmN8pQrS1t', got 'x'";
        let path = format!("{list}version=x");
        shared_service().assert_error(&path, 400, "invalid_request", message).await;
    }
}
