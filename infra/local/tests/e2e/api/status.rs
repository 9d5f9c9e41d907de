//! `/v1/health` and `/v1/stats`, also without `/v1`.

use serde_json::json;

use crate::support::service::{Service, fields, shared_service};

#[tokio::test]
async fn health_is_the_same_with_and_without_the_version() {
    let service = shared_service();
    let body = service.ok("/v1/health").await;
    assert_eq!(fields(&body), ["status", "database", "last_ingestion", "version"]);
    assert_eq!((&body["status"], &body["database"]), (&json!("healthy"), &json!("connected")));
    assert_eq!(body["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(service.ok("/health").await, body);
}

#[tokio::test]
async fn stats_count_the_sample() {
    let service = shared_service();
    let body = service.ok("/v1/stats").await;
    assert_eq!(
        fields(&body),
        ["total_records", "by_country", "by_status", "last_updated", "coverage"]
    );
    assert_eq!(body["total_records"], 3484);
    assert_eq!(body["by_country"], json!({ "CA": 687, "US": 2797 }));
    assert_eq!(body["by_status"], json!({ "ASSIGNED": 2220, "RESERVED": 1097, "UNASSIGNED": 167 }));
    assert_eq!(body["coverage"], json!({ "area_codes": 430, "states_provinces": 69 }));
    assert_eq!(fields(&body["last_updated"]), ["NANPA", "CNAC"]);
    assert_eq!(service.ok("/stats").await, body);
}

#[tokio::test]
async fn stats_name_the_version_that_lists_are_of() {
    let service = shared_service();
    let list = service.get("/v1/carriers?limit=1").await;
    let link = list.headers()["link"].to_str().unwrap();
    for path in ["/stats", "/v1/stats"] {
        let response = service.request(path).send().await.unwrap();
        let version = response.headers()["x-data-version"].to_str().unwrap();
        assert!(link.contains(&format!("version={version}>")), "{path}: {version} in {link}");
        let page = format!("/v1/carriers?limit=1&version={version}");
        assert_eq!(service.get(&page).await.status(), 200, "{page}");
    }
}

#[tokio::test]
async fn public_answers_may_be_cached() {
    let service = shared_service();
    for path in ["/health", "/v1/health", "/stats", "/v1/stats"] {
        let response = service.request(path).send().await.unwrap();
        assert_eq!(response.headers()["cache-control"], "public, max-age=60", "{path}");
    }
}

#[tokio::test]
async fn before_the_first_import_health_is_degraded() {
    let service = Service::empty().await;
    let body = service.ok("/health").await;
    assert_eq!(
        (&body["status"], &body["database"], &body["last_ingestion"]),
        (&json!("degraded"), &json!("connected"), &json!(null))
    );
}
