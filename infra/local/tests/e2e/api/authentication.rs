//! Authentication: protected endpoints, ways to send a key, and valid keys.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::Value;
use tnr::keys::{random, register, revoke};

use crate::support::{
    endpoints::{endpoints, is_part_of_a_page},
    fault_proxy::{Fault, FaultProxy},
    readme,
    service::{KEY, Service, shared_service},
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
    let promised: BTreeSet<String> = rows.flat_map(|row| row.paths).collect();
    assert_eq!(public, promised);
}

#[tokio::test]
async fn keys_are_accepted_in_three_ways_and_the_authorization_header_wins() {
    let service = shared_service();
    let (path, with_key) = ("/v1/npa/415?limit=1", format!("/v1/npa/415?limit=1&apiKey={KEY}"));
    for (request, status) in [
        (service.request(path).header("authorization", format!("bearer {KEY}")), 200),
        (service.request(path).header("x-api-key", KEY), 200),
        (service.request(&with_key), 200),
        (service.request("/v1/npa/415?apiKey=x").bearer_auth(KEY).header("x-api-key", "x"), 200),
        (service.request(&with_key).bearer_auth("wrong").header("x-api-key", KEY), 401),
        (service.request(&with_key).header("x-api-key", "wrong"), 401),
    ] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status);
        let caching = if status == 200 { "private" } else { "no-store" };
        assert_eq!(response.headers()["cache-control"], caching);
    }
}

#[tokio::test]
async fn revoked_and_expired_keys_are_refused() {
    let service = shared_service();
    let store = service.database.store();
    let (revoked, expired) = (random().unwrap(), random().unwrap());
    register(&store, &revoked, "revoked").await.unwrap();
    register(&store, &expired, "expired").await.unwrap();
    let mut record = store.api_key(&expired.hash()).await.unwrap().unwrap();
    record.expires_at = Some(record.created_at);
    store.put_api_key(&record).await.unwrap();
    revoke(&store, revoked.prefix()).await.unwrap();
    for key in [revoked, expired] {
        let request = service.request("/v1/carriers").bearer_auth(key.reveal());
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{key:?}");
    }
}

#[tokio::test]
async fn only_keys_in_use_work_while_the_key_table_is_gone() {
    let service = Service::with_sample().await;
    service.ok("/v1/npa/415").await;
    let unused = random().unwrap();
    register(&service.database.store(), &unused, "unused").await.unwrap();
    let store = service.database.store();
    store.parts().0.delete_table().table_name("api_keys").send().await.unwrap();
    service.ok("/v1/npa/415").await;
    let response =
        service.request("/v1/npa/415").bearer_auth(unused.reveal()).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn an_unknown_key_is_read_once_and_works_soon_after_creation() {
    let service = Service::with_sample().await;
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let policy = move |_, operation: &str| {
        if operation == "GetItem" {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        Fault::None
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let container = Service::behind(&proxy).await;
    let key = random().unwrap();
    let ask = || async {
        let request = container.request("/v1/carriers?limit=1").bearer_auth(key.reveal());
        request.send().await.unwrap().status()
    };
    for _ in 0..20 {
        assert_eq!(ask().await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(reads.load(Ordering::SeqCst), 1);
    register(&service.database.store(), &key, "new").await.unwrap();
    let created = Instant::now();
    while ask().await == StatusCode::UNAUTHORIZED {
        assert!(created.elapsed() < Duration::from_secs(12));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
