//! Who is let in: which endpoints need a key, how it is sent, and which keys work.

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
use tnr::commands::keys::{random, register, revoke};

use crate::support::{
    endpoints::{endpoints, is_part_of_a_page},
    fault_proxy::{Fault, FaultProxy},
    readme,
    service::{KEY, Service, shared_service},
};

#[tokio::test]
async fn every_protected_endpoint_asks_for_a_key_and_no_public_one_does() {
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

/// The README says which endpoints are public; one that is declared public by mistake is not there.
#[test]
fn the_public_endpoints_are_those_of_the_readme() {
    let endpoints = endpoints().into_iter().filter(|endpoint| !endpoint.needs_key());
    let paths = endpoints.map(|endpoint| endpoint.path).filter(|path| !is_part_of_a_page(path));
    let public: BTreeSet<String> = paths.map(|path| path.replace("+}", "}")).collect();
    let rows = readme::rows().into_iter().filter(|row| !row.needs_key);
    let promised: BTreeSet<String> = rows.flat_map(|row| row.paths).collect();
    assert_eq!(public, promised);
}

#[tokio::test]
async fn a_key_is_taken_in_each_of_three_ways() {
    let service = shared_service();
    let path = "/v1/npa/415?limit=1";
    let requests = [
        service.request(path).header("Authorization", format!("Bearer {KEY}")),
        service.request(path).header("authorization", format!("bearer {KEY}")),
        service.request(path).header("X-API-Key", KEY),
        service.request(&format!("{path}&apiKey={KEY}")),
    ];
    for request in requests {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["cache-control"], "private");
    }
}

#[tokio::test]
async fn the_authorization_header_decides_before_the_others() {
    let service = shared_service();
    let right_then_wrong =
        service.request("/v1/npa/415?apiKey=wrong").bearer_auth(KEY).header("X-API-Key", "wrong");
    assert_eq!(right_then_wrong.send().await.unwrap().status(), StatusCode::OK);
    let wrong_then_right = service
        .request(&format!("/v1/npa/415?apiKey={KEY}"))
        .bearer_auth("wrong")
        .header("X-API-Key", KEY);
    assert_eq!(wrong_then_right.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let header_before_query =
        service.request(&format!("/v1/npa/415?apiKey={KEY}")).header("X-API-Key", "wrong");
    assert_eq!(header_before_query.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_unknown_or_malformed_key_is_invalid() {
    let service = shared_service();
    let unknown = random().unwrap();
    for key in [unknown.reveal(), "secret", "tnr_live_", "tnr_live_é", "null"] {
        let response = service.request("/v1/carriers").bearer_auth(key).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let challenge = "Bearer realm=\"Telephone Number Reference Service\", \
                         error=\"invalid_token\", error_description=\"Invalid API key\"";
        assert_eq!(response.headers()["www-authenticate"], challenge);
        let body: Value = response.json().await.unwrap();
        assert_eq!(
            body,
            serde_json::json!({ "error": "unauthorized", "message": "Invalid API key" })
        );
    }
}

#[tokio::test]
async fn a_revoked_or_expired_key_is_refused() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let (revoked, expired) = (random().unwrap(), random().unwrap());
    register(&store, &revoked, "revoked").await.unwrap();
    register(&store, &expired, "expired").await.unwrap();
    let mut record = store.api_key(&expired.hash()).await.unwrap().unwrap();
    record.expires_at = Some(record.created_at);
    store.put_api_key(&record).await.unwrap();
    revoke(&store, revoked.prefix()).await.unwrap();
    for key in [revoked, expired] {
        let response =
            service.request("/v1/carriers").bearer_auth(key.reveal()).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{key:?}");
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_without_a_key() {
    let response = shared_service().request("/v1/invalid").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn while_the_key_table_is_gone_a_key_in_use_works_and_no_other_does() {
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
async fn an_unknown_key_is_read_once_and_works_soon_after_it_is_created() {
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
