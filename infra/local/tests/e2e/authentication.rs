use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::Value;
use tnr::database::Database;

use crate::{
    fault_proxy::{Fault, FaultProxy},
    service::{KEY, Service, shared_service},
};

const PROTECTED: [&str; 9] = [
    "/v1/carriers",
    "/v1/carrier",
    "/v1/carrier/6010",
    "/v1/npa",
    "/v1/npa/415",
    "/v1/npa/415/nxx/234",
    "/v1/format",
    "/v1/format/3052345678",
    "/v1/search",
];

#[tokio::test]
async fn every_endpoint_but_health_and_stats_asks_for_a_key() {
    let service = shared_service();
    for path in PROTECTED {
        let response = service.request(path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer", "{path}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "unauthorized");
        assert!(body["message"].as_str().unwrap().starts_with("API key required"), "{body}");
    }
    for path in ["/health", "/v1/health", "/stats", "/v1/stats"] {
        let response = service.request(path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_key_is_taken_in_each_of_three_ways() {
    let service = shared_service();
    let path = "/v1/npa/415?limit=1";
    let ways = [
        service.request(path).header("Authorization", format!("Bearer {KEY}")),
        service.request(path).header("authorization", format!("bearer {KEY}")),
        service.request(path).header("X-API-Key", KEY),
        service.request(&format!("{path}&apiKey={KEY}")),
    ];
    for request in ways {
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
    let unknown = tnr::commands::keys::random().unwrap();
    for key in [unknown.reveal(), "secret", "tnr_live_", "tnr_live_é", "null"] {
        let response = service.request("/v1/carriers").bearer_auth(key).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
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
    let (revoked, expired) =
        (tnr::commands::keys::random().unwrap(), tnr::commands::keys::random().unwrap());
    tnr::commands::keys::register(&store, &revoked, "revoked").await.unwrap();
    tnr::commands::keys::register(&store, &expired, "expired").await.unwrap();
    let mut record = store.api_key(&expired.hash()).await.unwrap().unwrap();
    record.expires_at = Some(record.created_at);
    store.put_api_key(&record).await.unwrap();
    tnr::commands::keys::revoke(&store, revoked.prefix()).await.unwrap();
    for key in [revoked, expired] {
        let response =
            service.request("/v1/carriers").bearer_auth(key.reveal()).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{key:?}");
    }
}

#[tokio::test]
async fn an_unknown_path_needs_no_key_to_be_unknown() {
    let response = shared_service().request("/v1/invalid").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_key_in_use_goes_on_while_its_table_is_gone_and_no_other_gets_in() {
    let service = Service::with_sample().await;
    service.ok("/v1/npa/415").await;
    let unused = tnr::commands::keys::random().unwrap();
    tnr::commands::keys::register(&service.database.store(), &unused, "unused").await.unwrap();
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
    let container = Service::on(Database::at(proxy.endpoint.clone()).await.unwrap()).await;
    let key = tnr::commands::keys::random().unwrap();
    let ask = || async {
        let request = container.request("/v1/carriers?limit=1").bearer_auth(key.reveal());
        request.send().await.unwrap().status()
    };
    for _ in 0..20 {
        assert_eq!(ask().await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(reads.load(Ordering::SeqCst), 1);
    tnr::commands::keys::register(&service.database.store(), &key, "new").await.unwrap();
    let created = Instant::now();
    while ask().await == StatusCode::UNAUTHORIZED {
        assert!(created.elapsed() < Duration::from_secs(12));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
