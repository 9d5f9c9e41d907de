//! A DynamoDB that fails, stalls, or lacks tables or data. Responses are correct or clear errors, arrive in bounded
//! time, and never admit an invalid key.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use shared::auth::{ApiKey, KeyKind};
use tnr::{database::tables::create_missing, keys};

use crate::support::{
    endpoints::example_targets,
    fault_proxy::{Fault, FaultProxy, for_first_calls},
    processes::wait_until,
    service::{KEY, Service},
};

/// The successful responses to one request per protected endpoint.
async fn example_responses(service: &Service) -> Vec<(String, Value)> {
    let mut responses = Vec::new();
    for target in example_targets() {
        let body = service.ok(&target).await;
        responses.push((target, body));
    }
    responses
}

async fn delete_table(service: &Service, table: &str) {
    let store = service.database.store();
    let (client, _) = store.parts();
    client.delete_table().table_name(table).send().await.unwrap();
}

async fn assert_unavailable(service: &Service, path: &str) {
    let response = service.get(path).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
    assert_eq!(response.headers()["retry-after"], "5", "{path}");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"], "service_unavailable", "{path}");
    let message = body["message"].as_str().unwrap();
    assert!(!message.contains("table") && !message.contains("DynamoDB"), "internals: {message}");
}

#[tokio::test]
async fn requests_get_a_503_without_the_dataset_or_key_table_they_need() {
    for table in ["dataset", "api_keys"] {
        let service = Service::with_sample().await;
        delete_table(&service, table).await;
        for target in example_targets() {
            assert_unavailable(&service, &target).await;
        }
        let status = service.get("/v1/format/+442079460958").await.status();
        assert_eq!(status.is_success(), table == "dataset", "{table}");
    }
}

#[tokio::test]
async fn health_is_degraded_without_the_keys_table() {
    let service = Service::with_sample().await;
    let health = service.ok("/health").await;
    assert_eq!((&health["status"], &health["database"]), (&json!("healthy"), &json!("connected")));
    delete_table(&service, "api_keys").await;
    // The first service has read the table within the last minute.
    let service = service.restart().await;
    let response = service.get("/health").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["cache-control"], "no-store");
    let mut expected = health.clone();
    (expected["status"], expected["database"]) = (json!("degraded"), json!("error"));
    assert_eq!(response.json::<Value>().await.unwrap(), expected);

    create_missing(&service.database.store()).await.unwrap();
    wait_until(async || service.ok("/health").await == health).await;
}

#[tokio::test]
async fn lookups_are_served_from_memory_without_the_lookup_tables() {
    let service = Service::with_sample().await;
    let expected = example_responses(&service).await;
    delete_table(&service, "exchanges").await;
    delete_table(&service, "carriers").await;
    let service = service.restart().await;
    assert_eq!(example_responses(&service).await, expected);
    delete_table(&service, "dataset").await;
    assert_eq!(example_responses(&service).await, expected);
}

#[tokio::test]
async fn unprocessed_chunks_are_retried_for_a_bounded_time() {
    let sample = Service::with_sample().await;
    for (unprocessed_calls, status) in
        [(3, StatusCode::OK), (usize::MAX, StatusCode::SERVICE_UNAVAILABLE)]
    {
        let policy = for_first_calls(unprocessed_calls, "BatchGetItem", Fault::Unprocessed);
        let proxy = FaultProxy::new(sample.database.endpoint(), policy).await;
        let service = Service::behind(&proxy).await;
        let started = Instant::now();
        assert_eq!(service.get("/v1/carriers").await.status(), status);
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn database_faults_never_cause_wrong_responses_or_admit_bad_keys() {
    let sample = Service::with_sample().await;
    let store = sample.database.store();
    let (unknown, revoked) =
        (keys::random(KeyKind::Live).unwrap(), keys::random(KeyKind::Live).unwrap());
    keys::register(&store, &revoked, "revoked").await.unwrap();
    keys::revoke(&store, revoked.prefix()).await.unwrap();
    let expected = example_responses(&sample).await;
    for fault in [Fault::Throttled, Fault::InternalError, Fault::Stall, Fault::Reset, Fault::CutOff]
    {
        let endpoint = sample.database.endpoint();
        tokio::join!(
            assert_correct_or_unavailable(endpoint, fault, false, &expected, [&unknown, &revoked]),
            assert_correct_or_unavailable(endpoint, fault, true, &expected, [&unknown, &revoked]),
        );
    }
}

/// Asserts that every protected endpoint responds in bounded time while every DynamoDB call fails. Responses are
/// correct with data in memory and 503 without it, and the service recovers quickly.
async fn assert_correct_or_unavailable(
    endpoint: &str,
    fault: Fault,
    has_data: bool,
    expected: &[(String, Value)],
    [unknown, revoked]: [&ApiKey; 2],
) {
    let proxy = FaultProxy::with_switch(endpoint, fault).await;
    let service = Service::behind(&proxy).await;
    if has_data {
        service.ok("/v1/carriers").await;
    }
    proxy.start_failing();
    let get = async |path: &str, key: &str| {
        let started = Instant::now();
        let response = service.request(path).bearer_auth(key).send().await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(10), "{fault:?} {path}");
        (response.status(), response.json::<Value>().await.unwrap())
    };
    // All at once, since each waits for the database.
    let requests = expected.iter().map(|(target, _)| get(target, KEY));
    for ((target, expected), (status, body)) in expected.iter().zip(join_all(requests).await) {
        // Only the current data is in memory.
        let is_past = target.contains("/history") || target.starts_with("/v1/changes");
        if has_data && !is_past {
            assert_eq!(body, *expected, "{fault:?} {target}");
        } else {
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{fault:?} {target}: {body}");
        }
    }
    let bad_keys = [unknown, revoked].map(|key| get("/v1/npa/415", key.reveal()));
    for (status, body) in join_all(bad_keys).await {
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{fault:?}: {body}");
    }
    let (status, health) = get("/health", KEY).await;
    let (expected_status, health_status) =
        if has_data { (200, "degraded") } else { (503, "unhealthy") };
    assert_eq!((status.as_u16(), &health["status"]), (expected_status, &json!(health_status)));
    assert_eq!(health["database"], "error");
    assert_eq!(health["last_ingestion"].is_string(), has_data, "{fault:?}");
    assert_eq!(get("/stats", KEY).await.0, expected_status, "{fault:?}");

    proxy.stop_failing();
    wait_until(async || {
        get("/v1/npa/415/nxx/234", KEY).await.0 == StatusCode::OK
            && get("/health", KEY).await.1["status"] == "healthy"
            && get("/v1/npa/415", unknown.reveal()).await.0 == StatusCode::UNAUTHORIZED
    })
    .await;
}
