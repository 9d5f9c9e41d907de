//! Lists, searches and their pages.

use ingest::Options;
use reqwest::Response;
use serde_json::Value;

use crate::support::{
    imports::{import, without_gates},
    lists::{all_records, assert_page_sizes_agree},
    service::{Service, shared_service},
    small_reports::ReportTexts,
};

#[tokio::test]
async fn every_result_matches_its_filter_in_any_case() {
    let service = shared_service();
    for (target, list, field, value) in [
        ("/v1/carriers?country=ca", "carriers", "country", "CA"),
        ("/v1/carriers?state=oh", "carriers", "state", "OH"),
        ("/v1/carriers?type=wireless", "carriers", "carrier_type", "WIRELESS"),
        ("/v1/search?npa=416", "results", "npa", "416"),
        ("/v1/search?nxx=234", "results", "nxx", "234"),
        ("/v1/search?ocn=908k", "results", "ocn", "908K"),
        (
            "/v1/search?company=SAMPLE%20WIRELESS,%20llc",
            "results",
            "company_name",
            "SAMPLE WIRELESS, LLC",
        ),
        ("/v1/search?rate_center=toronto", "results", "rate_center", "Toronto"),
        ("/v1/search?state=vt", "results", "state", "VT"),
        ("/v1/search?country=ca", "results", "country", "CA"),
        ("/v1/search?type=pcs", "results", "carrier_type", "PCS"),
        ("/v1/search?status=unassigned", "results", "status", "UNASSIGNED"),
    ] {
        let body = service.ok(&format!("{target}&limit=100")).await;
        let records = body[list].as_array().unwrap();
        assert!(!records.is_empty(), "{target}");
        assert!(records.iter().all(|record| record[field] == value), "{target}: {body}");
    }
    let all_filters = "/v1/carriers?q=sample&country=US&state=ON";
    assert_eq!(service.ok(all_filters).await["pagination"]["total"], 0);
}

#[tokio::test]
async fn carrier_details_agree_with_the_list_and_with_search() {
    let service = shared_service();
    let list = service.ok("/v1/carriers?limit=100").await;
    for summary in list["carriers"].as_array().unwrap() {
        let ocn = summary["ocn"].as_str().unwrap();
        let mut detail = service.ok(&format!("/v1/carrier/{ocn}")).await;
        let exchanges = detail.as_object_mut().unwrap().remove("exchanges").unwrap();
        assert_eq!(&detail, summary);
        let found = service.ok(&format!("/v1/search?ocn={ocn}&limit=1")).await;
        assert_eq!(exchanges["total"], found["pagination"]["total"], "{ocn}");
    }
}

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
async fn exchanges_are_the_same_by_path_by_query_and_by_version() {
    let service = shared_service();
    let by_path = service.ok("/v1/npa/416/nxx/234").await;
    let version = version_in(&service.get("/v1/npa/416?limit=1").await);
    for target in [
        "/v1/npa?npa=416&nxx=234".to_owned(),
        "/v1/npa/416?nxx=234".to_owned(),
        format!("/v1/npa/416?nxx=234&version={version}"),
    ] {
        assert_eq!(service.ok(&target).await, by_path, "{target}");
    }
    let beyond = service.ok("/v1/npa/416/nxx/234?offset=9007199254740991").await;
    assert_eq!(beyond["exchanges"].as_array().unwrap().len(), 0);
    assert_eq!(beyond["pagination"]["offset"], 9_007_199_254_740_991_u64);
    assert_eq!(beyond["pagination"]["total"], 1);
}

#[tokio::test]
async fn every_page_size_yields_every_record_once_in_order() {
    let service = shared_service();
    assert_page_sizes_agree(service, "/v1/npa/416", "exchanges").await;
    assert_page_sizes_agree(service, "/v1/carriers", "carriers").await;
    assert_page_sizes_agree(service, "/v1/carriers?q=sample+te", "carriers").await;
    assert_page_sizes_agree(service, "/v1/search?q=sample%20wireless", "results").await;
}

#[tokio::test]
async fn trailing_slashes_are_ignored_on_paths_without_parameters() {
    let service = shared_service();
    for (path, query) in [
        ("/v1/carriers", "?limit=2"),
        ("/v1/npa", "?npa=415&limit=2"),
        ("/v1/search", "?q=sample&limit=2"),
        ("/v1/format", "?tn=3052345678"),
        ("/health", ""),
        ("/v1/stats", ""),
    ] {
        let expected = service.get(&format!("{path}{query}")).await;
        let response = service.get(&format!("{path}/{query}")).await;
        assert_eq!(response.headers().get("link"), expected.headers().get("link"), "{path}");
        assert_eq!(response.bytes().await.unwrap(), expected.bytes().await.unwrap(), "{path}");
    }
}

/// The data version in the first link of a page.
fn version_in(page: &Response) -> String {
    let links = page.headers()["link"].to_str().unwrap();
    links.split("version=").nth(1).unwrap().split('>').next().unwrap().to_owned()
}

/// The path of the next page in the `Link` header.
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
async fn statistics_name_the_version_of_the_lists() {
    let service = shared_service();
    let version = version_in(&service.get("/v1/carriers?limit=1").await);
    for path in ["/stats", "/v1/stats"] {
        let response = service.request(path).send().await.unwrap();
        assert_eq!(response.headers()["x-data-version"], version.as_str(), "{path}");
        assert_eq!(response.headers()["cache-control"], "public, max-age=60", "{path}");
    }
}
