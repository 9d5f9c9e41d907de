use serde_json::json;

use crate::service::{Service, fields, http_client, shared_service};

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

#[tokio::test]
async fn an_unknown_path_and_a_wrong_method_are_answered_in_json() {
    let service = shared_service();
    for path in ["/v1/invalid", "/", "/v1", "/v1/", "/v2/health", "/v1/npa/415/nxx", "/V1/HEALTH"] {
        let message = format!("Endpoint not found: {path}");
        service.assert_error(path, 404, "not_found", &message).await;
    }
    let client = http_client();
    for path in ["/v1/carriers", "/v1/npa/415", "/health", "/v1/format/1", "/v1/search"] {
        let url = format!("{}{path}", service.base_url);
        let response = client.post(url).bearer_auth(crate::service::KEY).send().await.unwrap();
        assert_eq!(response.status(), 405, "{path}");
        assert_eq!(response.headers()["allow"], "GET,HEAD", "{path}");
        let body: serde_json::Value = response.json().await.unwrap();
        let message = format!("POST is not allowed on {path}; use GET");
        assert_eq!(body, json!({ "error": "method_not_allowed", "message": message }));
    }
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let service = shared_service();
    let url = format!("{}/v1/npa/415", service.base_url);
    let response = http_client().head(url).bearer_auth(crate::service::KEY).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.unwrap().is_empty());
}
