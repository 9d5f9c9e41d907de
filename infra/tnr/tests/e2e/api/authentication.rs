//! Authentication: protected endpoints, and newly created keys.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::Value;
use shared::auth::KeyKind;
use tnr::keys::{random, register};

use crate::support::{
    database_calls::operations,
    endpoints::endpoints,
    fault_proxy::FaultProxy,
    service::{Service, shared_service},
};

#[tokio::test]
async fn only_protected_endpoints_require_a_key() {
    let service = shared_service();
    for endpoint in endpoints() {
        let example = endpoint.example();
        let response = service.request_like(&example, example.path()).send().await.unwrap();
        if !endpoint.needs_key() {
            assert_eq!(response.status(), StatusCode::OK, "{endpoint:?}");
            continue;
        }
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{endpoint:?}");
        let challenge = "Bearer realm=\"Telephone Number Reference Service\"";
        assert_eq!(response.headers()["www-authenticate"], challenge, "{endpoint:?}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "unauthorized");
        assert!(body["message"].as_str().unwrap().starts_with("API key required"), "{body}");
    }
}

#[tokio::test]
async fn an_unknown_key_is_read_once_and_works_soon_after_creation() {
    let service = Service::with_sample().await;
    let proxy = FaultProxy::transparent(service.database.endpoint()).await;
    let container = Service::behind(&proxy).await;
    proxy.take_answered();
    let key = random(KeyKind::Live).unwrap();
    let status = || async {
        let request = container.request("/v1/carriers?limit=1").bearer_auth(key.reveal());
        request.send().await.unwrap().status()
    };
    for _ in 0..20 {
        assert_eq!(status().await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(operations(&proxy.take_answered()), ["GetItem"]);
    register(&service.database.store(), &key, "new").await.unwrap();
    let created = Instant::now();
    while status().await == StatusCode::UNAUTHORIZED {
        assert!(created.elapsed() < Duration::from_secs(12));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
