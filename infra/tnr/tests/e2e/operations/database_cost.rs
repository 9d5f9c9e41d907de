//! Tests the DynamoDB calls, capacity units and prices of requests.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::StatusCode;
use shared::auth::KeyKind;
use store::{Countries, Manifest};
use tnr::{
    keys::{random, register},
    operate::costs::{measure, snapshot_read_units},
};

use crate::support::{
    databases,
    fault_proxy::{CompletedCall, FaultProxy},
    keys::key_with_quotas,
    processes::wait_until,
    service::{Service, header},
};

/// The calls in a cold start: the key, the manifest, and the snapshot's chunks in one call.
const COLD_START_CALLS: [&str; 3] = ["GetItem", "GetItem", "BatchGetItem"];

pub async fn calls_for(service: &Service, proxy: &FaultProxy, path: &str) -> Vec<CompletedCall> {
    let status = service.get(path).await.status();
    assert!(!status.is_server_error(), "{path}: {status}");
    proxy.take_completed()
}

fn operations(calls: &[CompletedCall]) -> Vec<&str> {
    calls.iter().map(|call| call.operation.as_str()).collect()
}

pub fn units(calls: &[CompletedCall]) -> f64 {
    calls.iter().map(|call| call.units).sum()
}

/// A proxy for a database with the sample.
async fn proxy() -> FaultProxy {
    let sample = databases::with_sample().await;
    FaultProxy::transparent(sample.endpoint()).await
}

async fn cold_service(proxy: &FaultProxy) -> Service {
    let service = Service::patient(&proxy.endpoint).await;
    proxy.take_completed();
    service
}

/// A service with all current data and the sample key in memory.
pub async fn warm_service(proxy: &FaultProxy) -> Service {
    let service = cold_service(proxy).await;
    calls_for(&service, proxy, "/v1/carriers").await;
    service
}

/// Asserts that a cold service reads the snapshot of at least `min_chunks` chunks in one eventually
/// consistent call at the documented cost, and a manifest with all retained versions.
pub async fn assert_snapshot_costs_half(proxy: &FaultProxy, min_chunks: u32) {
    let service = cold_service(proxy).await;
    let store = service.database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let retained = vec![manifest.current.clone(); 3];
    let full = Manifest { retained, countries: Countries::default(), ..manifest.clone() };
    store.publish(&full, &manifest.revision).await.unwrap();
    let snapshot = manifest.current;
    let bytes = store.snapshot(&snapshot).await.unwrap().len();
    assert!(snapshot.chunks >= min_chunks, "{}", snapshot.chunks);
    proxy.take_completed();
    let calls = calls_for(&service, proxy, "/v1/carriers").await;
    assert_eq!(operations(&calls), COLD_START_CALLS);
    assert_eq!(units(&calls[..2]), measure("key_and_manifest_units"));
    assert_eq!(calls[2].units, snapshot_read_units(bytes as f64));
}

/// Sends the requests in `database_calls.txt` in order: to a new container (`cold`) or the same one, without a key, or
/// with a `spent` quota. `any` does not compare the calls, whose units depend on the time.
#[tokio::test]
async fn requests_make_the_expected_calls_and_are_charged_for_reads_of_the_past() {
    let database = databases::with_history().await;
    let store = database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let start = store.history(&manifest, Timestamp::now()).await.unwrap().start().at.to_string();
    let proxy = FaultProxy::transparent(database.endpoint()).await;
    let spent = key_with_quotas(&store, None, Some(3)).await;
    let mut transcript = String::new();
    let (mut service, mut key, mut left) = (cold_service(&proxy).await, spent.clone(), 0);
    for line in include_str!("database_calls.txt").lines() {
        let (kind, target) = line.split_once(' ').unwrap();
        if kind == "cold" {
            // Its own key, because containers count separately.
            key = key_with_quotas(&store, None, Some(1000)).await;
            (service, left) = (cold_service(&proxy).await, 1000);
        }
        let now = Timestamp::now().to_string();
        let request = service.request(&target.replace("{start}", &start).replace("{now}", &now));
        let request = match kind {
            "keyless" => request,
            "spent" => request.bearer_auth(spent.reveal()),
            _ => request.bearer_auth(key.reveal()),
        };
        proxy.take_completed();
        let response = request.send().await.unwrap();
        let mut calls = proxy.take_completed();
        calls.retain(|call| call.table != "usage");
        let status = response.status();
        transcript += &format!("{line}\n  {status}");
        let now_left = header(response.headers(), "x-ratelimit-remaining").parse::<u64>();
        if let (Ok(now_left), true) = (now_left, kind != "spent") {
            let charged = left - now_left;
            left = now_left;
            transcript += &format!(", charged {charged}");
            calls.retain(|call| kind != "any" || call.table == "history");
            let price = (units(&calls) / 8.0).ceil() as u64;
            assert!(kind != "any" || charged == price.max(1), "{line}: {calls:?}");
        }
        calls.sort_by(|a, b| (&a.table, &a.operation).cmp(&(&b.table, &b.operation)));
        for CompletedCall { operation, table, units } in calls.iter().filter(|_| kind != "any") {
            transcript += &format!("\n  {operation} on {table}, {units}");
        }
        transcript.push('\n');
    }
    insta::assert_snapshot!("database_calls", transcript);
}

#[tokio::test]
async fn cold_starts_read_the_snapshot_at_half_the_cost() {
    assert_snapshot_costs_half(&proxy().await, 1).await;
}

/// The number of numbers in the same exchange does not matter.
#[tokio::test]
async fn batches_read_each_uncached_exchange_once() {
    let proxy = proxy().await;
    let service = warm_service(&proxy).await;
    let mut numbers = Vec::new();
    for offset in [0, 100] {
        let page = service.ok(&format!("/v1/search?country=US&limit=100&offset={offset}")).await;
        for row in page["results"].as_array().unwrap() {
            let [npa, nxx] = ["npa", "nxx"].map(|name| row[name].as_str().unwrap());
            numbers.extend((1000..1005).map(|line| format!("+1{npa}{nxx}{line}")));
        }
    }
    assert_eq!(numbers.len(), 1000);
    proxy.take_completed();
    let mut calls = Vec::new();
    for target in ["/v1/format", "/v1/format", "/v1/format?cache=false"] {
        let body = serde_json::to_string(&numbers).unwrap();
        let response = service.post(target, "application/json", body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        calls.push(proxy.take_completed());
    }
    let [cold, cached, fresh] = calls.try_into().unwrap();
    // Numbers in invalid or toll-free exchanges do not need a read.
    let read = units(&cold) / 0.5;
    assert!((100.0..=200.0).contains(&read), "{read}");
    assert!(operations(&cold).len() <= 2, "{cold:?}");
    assert!(operations(&cold).iter().all(|operation| *operation == "BatchGetItem"), "{cold:?}");
    assert_eq!(cached, []);
    assert_eq!(units(&fresh), units(&cold));
}

#[tokio::test]
async fn unknown_keys_are_read_once_until_they_are_created() {
    let proxy = proxy().await;
    let service = warm_service(&proxy).await;
    let key = random(KeyKind::Live).unwrap();
    let status = async || {
        let request = service.request("/v1/carriers").bearer_auth(key.reveal());
        request.send().await.unwrap().status()
    };
    proxy.take_completed();
    for _ in 0..20 {
        assert_eq!(status().await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(operations(&proxy.take_completed()), ["GetItem"]);
    register(&service.database.store(), &key, "new").await.unwrap();
    let works = wait_until(async || status().await == StatusCode::OK);
    tokio::time::timeout(Duration::from_secs(12), works).await.unwrap();
}
