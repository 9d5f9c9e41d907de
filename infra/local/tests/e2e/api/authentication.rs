//! Authentication: protected endpoints, and newly created keys.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::Value;
use shared::auth::KeyKind;
use store::KeyRecord;
use tnr::keys::{random, register};

use crate::support::{
    database_calls::operations,
    endpoints::{endpoints, is_part_of_a_page},
    fault_proxy::FaultProxy,
    readme,
    service::{Service, header, shared_service},
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

/// Catches an endpoint that is declared public by mistake.
#[test]
fn public_endpoints_match_the_readme() {
    let endpoints = endpoints().into_iter().filter(|endpoint| !endpoint.needs_key());
    let paths = endpoints.map(|endpoint| endpoint.path).filter(|path| !is_part_of_a_page(path));
    let public: BTreeSet<String> = paths.map(|path| path.replace("+}", "}")).collect();
    let rows = readme::rows().into_iter().filter(|row| !row.needs_key);
    let documented: BTreeSet<String> = rows.flat_map(|row| row.paths).collect();
    assert_eq!(public, documented);
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

#[tokio::test]
async fn only_test_keys_get_the_fixed_outcomes_of_test_numbers() {
    let service = shared_service();
    let store = service.database.store();
    let [live, test] = [KeyKind::Live, KeyKind::Test].map(|kind| random(kind).unwrap());
    for key in [&live, &test] {
        register(&store, key, "integration tests").await.unwrap();
        let record = store.api_key(&key.hash()).await.unwrap().unwrap();
        store.put_api_key(&KeyRecord { per_minute: Some(600), ..record }).await.unwrap();
    }
    for (key, carrier, status) in [(&live, None, 200), (&test, Some("TEST WIRELESS, INC."), 429)] {
        let get = async |number: &str| {
            let request = service.request(&format!("/v1/format/{number}"));
            request.bearer_auth(key.reveal()).send().await.unwrap()
        };
        let found: Value = get("+12015550100").await.json().await.unwrap();
        assert_eq!(found["carrier"]["name"].as_str(), carrier);
        let response = get("+15005550429").await;
        assert_eq!(response.status(), status);
        let remaining = header(response.headers(), "x-ratelimit-minute-remaining");
        assert_eq!(remaining, if status == 429 { "0" } else { "598" });
        // Any other number is real.
        let real: Value = get("+13052345678").await.json().await.unwrap();
        assert_eq!(real["carrier"]["ocn"], "5927");
    }
}
