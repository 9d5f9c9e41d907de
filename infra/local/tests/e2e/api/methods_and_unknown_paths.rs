//! Requests that no endpoint answers, and `HEAD`.

use serde_json::{Value, json};

use crate::support::{
    keys::key_with_quotas,
    service::{KEY, Service, http_client, shared_service},
};

#[tokio::test]
async fn an_unknown_path_is_answered_in_json() {
    let service = shared_service();
    for path in ["/v1/invalid", "/v1", "/v1/", "/v2/health", "/v1/npa/415/nxy", "/V1/HEALTH"] {
        let message = format!("Endpoint not found: {path}");
        service.assert_error(path, 404, "not_found", &message).await;
    }
}

#[tokio::test]
async fn a_wrong_method_is_answered_in_json() {
    let service = shared_service();
    let client = http_client();
    for path in ["/v1/carriers", "/v1/npa/415", "/health", "/v1/format/1", "/v1/search"] {
        let url = format!("{}{path}", service.base_url);
        let response = client.post(url).bearer_auth(KEY).send().await.unwrap();
        assert_eq!(response.status(), 405, "{path}");
        assert_eq!(response.headers()["allow"], "GET, HEAD, OPTIONS", "{path}");
        let body: Value = response.json().await.unwrap();
        let message = format!("POST is not allowed on {path}; use GET");
        assert_eq!(body, json!({ "error": "method_not_allowed", "message": message }));
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_all_methods_of_its_path() {
    let service = shared_service();
    let url = format!("{}/v1/format", service.base_url);
    let response = http_client().delete(url).bearer_auth(KEY).send().await.unwrap();
    assert_eq!(response.status(), 405);
    assert_eq!(response.headers()["allow"], "GET, HEAD, POST, OPTIONS");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["message"], "DELETE is not allowed on /v1/format; use GET or POST");
}

/// A method that no endpoint has needs no key to be refused.
#[tokio::test]
async fn a_wrong_method_is_refused_before_the_key_is_checked_and_the_request_counted() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), Some(2), None).await;
    let url = format!("{}/v1/carriers", service.base_url);
    for request in [http_client().post(&url), http_client().post(&url).bearer_auth(key.reveal())] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 405);
        assert_eq!(response.headers()["allow"], "GET, HEAD, OPTIONS");
        assert!(!response.headers().contains_key("x-ratelimit-minute-remaining"));
    }
    let counted = http_client().get(&url).bearer_auth(key.reveal()).send().await.unwrap();
    assert_eq!(counted.headers()["x-ratelimit-minute-remaining"], "1");
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let service = shared_service();
    let url = format!("{}/v1/npa/415", service.base_url);
    let response = http_client().head(url).bearer_auth(KEY).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.unwrap().is_empty());
}
