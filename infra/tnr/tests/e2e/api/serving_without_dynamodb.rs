//! A DynamoDB that fails, stalls, or lacks tables or data. Responses are correct or clear errors, arrive in bounded
//! time, and never admit an invalid key.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, future::join_all, stream};
use reqwest::StatusCode;
use serde_json::{Value, json};
use shared::auth::{ApiKey, KeyKind};
use store::{CurrentDataset, Store, TimeoutProfile};
use tnr::keys;

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

#[tokio::test]
async fn only_numbers_abroad_need_no_data() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    store.parts().0.delete_table().table_name("dataset").send().await.unwrap();
    for target in example_targets() {
        let response = service.get(&target).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{target}");
        assert_eq!(response.headers()["retry-after"], "5", "{target}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "service_unavailable", "{target}");
        let message = body["message"].as_str().unwrap();
        assert!(!message.contains("table") && !message.contains("DynamoDB"), "{message}");
    }
    service.ok("/v1/format/+442079460958").await;
}

#[tokio::test]
async fn a_server_waits_for_its_own_slow_database() {
    let sample = Service::with_sample().await;
    let late = |_, _: &str| Fault::Late(Duration::from_millis(2500));
    let proxy = FaultProxy::new(sample.database.endpoint(), late).await;
    let store = Store::connect_to_emulator(&proxy.endpoint, TimeoutProfile::EmbeddedRequest);
    let loaded = CurrentDataset::new(store).get().await.unwrap();
    let stored = sample.database.store().manifest().await.unwrap().unwrap();
    assert_eq!(loaded.version, stored.current.version);
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
    for fault in [
        Fault::Throttled,
        Fault::InternalError,
        Fault::NonRetryable,
        Fault::Stall,
        Fault::Reset,
        Fault::CutOff,
    ] {
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
    let proxy = FaultProxy::with_switch(endpoint, None, fault).await;
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

    if has_data {
        assert_spared(&service, &proxy).await;
    }
    proxy.stop_failing();
    wait_until(async || {
        get("/v1/npa/415/nxx/234", KEY).await.0 == StatusCode::OK
            && get("/health", KEY).await.1["status"] == "healthy"
            && get("/v1/npa/415", unknown.reveal()).await.0 == StatusCode::UNAUTHORIZED
    })
    .await;
}

/// Asserts that many lookups, which read DynamoDB each time, cause few calls while it fails.
async fn assert_spared(service: &Service, proxy: &FaultProxy) {
    const LOOKUPS: usize = 200;
    const CLIENTS: usize = 20;
    /// The number of attempts that the SDK makes per call.
    const ATTEMPTS: usize = 3;
    /// The time for which a failed table's circuit breaker stays open, in seconds.
    const PAUSE: u64 = 3;
    proxy.reset();
    let started = Instant::now();
    let lookups = stream::iter(0..LOOKUPS).map(async |_| service.ok("/v1/carrier/908K").await);
    lookups.buffer_unordered(CLIENTS).collect::<Vec<_>>().await;
    let pauses = started.elapsed().as_secs() / PAUSE;
    let max_calls = ATTEMPTS * (CLIENTS + pauses as usize);
    assert!(proxy.calls() <= max_calls, "{} calls", proxy.calls());
}
