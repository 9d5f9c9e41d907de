//! Tests other countries' ranges, which are loaded from the database on first use.

use ingest::Options;
use reqwest::StatusCode;

use crate::support::{
    imports::{delete_chunk, import_british},
    service::{KEY, Service, header, shared_service},
};

/// The sample's British file.
const FILE: &str = include_str!("../../../sample/gb_number_blocks.csv");

#[tokio::test]
async fn pages_contain_every_country() {
    let service = shared_service();
    let first = service.ok("/v1/countries?limit=100").await;
    assert_eq!(
        (&first["countries"][0]["code"], &first["pagination"]["total"]),
        (&"AC".into(), &245.into())
    );
    let last = service.ok("/v1/countries?limit=100&offset=200").await;
    assert_eq!(last["countries"].as_array().unwrap().len(), 45);
}

#[tokio::test]
async fn links_to_replaced_ranges_are_rejected_instead_of_mixing_versions() {
    let service = Service::with_sample().await;
    let page = service.get("/v1/countries/GB/ranges?limit=2").await;
    let next = header(page.headers(), "link").split(['<', '>']).nth(1).unwrap().to_owned();
    let second = service.ok(&next).await;
    assert_eq!(second["pagination"]["offset"], 2);
    let with_another_range = format!("{FILE}8081 572,Free,,10 digit numbers,,\n");
    let store = service.database.store();
    import_british(&store, &with_another_range, Options::default()).await;
    let service = service.restart().await;
    let (status, body) = service.get_json(&next).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert!(body["message"].as_str().unwrap().contains("is no longer available"), "{body}");
    let total = service.ok("/v1/countries/GB/ranges").await["pagination"]["total"].clone();
    assert_eq!(total.as_u64(), second["pagination"]["total"].as_u64());
}

#[tokio::test]
async fn batches_show_each_numbers_range_and_the_past_shows_none() {
    let service = shared_service();
    let fields = "fields=assignment.verdict,assignment.range.holder,assignment.source.date";
    let numbers = "+442079460958\n+447700940000\n+4930123456\n+13052345678\n";
    let target = format!("/v1/format?{fields}");
    let request = service.post(&target, "text/plain", numbers).header("accept", "text/csv");
    let body = request.send().await.unwrap().text().await.unwrap();
    insta::assert_snapshot!(body);
    let past = service.ok("/v1/format/+442079460958?include=assignment&as_of=2000-01-01").await;
    assert_eq!(past["assignment"]["verdict"], "NOT_COVERED");
}

#[tokio::test]
async fn a_country_that_cannot_be_read_fails_alone() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let piece = store.manifest().await.unwrap().unwrap().countries.0["GB"].piece.clone();
    delete_chunk(&store, &piece.version).await;
    for path in ["/v1/countries/GB/ranges", "/v1/format/+442079460958?include=assignment"] {
        // The second request does not read the database again.
        for _ in 0..2 {
            let response = service.get(path).await;
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
            assert!(response.text().await.unwrap().contains("is damaged"), "{path}");
        }
    }
    for path in ["/v1/format/+442079460958", "/v1/format/+13052345678?include=all", "/v1/sources"] {
        service.ok(path).await;
    }
    let listed = service.ok("/v1/countries?country=GB").await["countries"][0].clone();
    assert_eq!(listed["data"]["publisher"], "Ofcom");
    assert!(listed["types"][0]["example"].is_null(), "{listed}");
    let anonymous = service.request("/v1/countries/GB/ranges").send().await.unwrap();
    assert_eq!(anonymous.status(), StatusCode::UNAUTHORIZED, "{KEY} is required");
    import_british(&store, FILE, Options::default()).await;
    let healed = service.restart().await.ok("/v1/countries/GB/ranges").await;
    assert_eq!(healed["ranges"][0]["holder"], "Sample Telecom Limited");
}
