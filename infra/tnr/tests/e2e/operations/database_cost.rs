//! Tests the DynamoDB calls, capacity units and prices of requests.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::StatusCode;
use shared::auth::KeyKind;
use store::Manifest;
use tnr::{
    keys::{random, register},
    operate::costs::{measures::KEY_AND_MANIFEST_UNITS, snapshot_read_units},
};

use crate::support::{
    databases,
    fault_proxy::{AnsweredCall, FaultProxy},
    keys::key_with_quotas,
    processes::wait_until,
    service::{Service, header},
};

/// Lists and searches with the smallest and largest pages, offsets and filters.
const LISTS: [&str; 7] = [
    "/v1/carriers",
    "/v1/carriers?q=sample&country=US&state=CA&type=WIRELESS",
    "/v1/npa/415?limit=100",
    "/v1/npa/415?limit=1&offset=1000000000",
    "/v1/npa?npa=416",
    "/v1/search?q=sample%20telephone&npa=415&status=ASSIGNED&state=CA",
    "/v1/search?company=nobody",
];
/// Requests that do not read a record.
const WITHOUT_RECORD: [&str; 4] =
    ["/v1/carrier/ZZZZ", "/v1/npa/212/nxx/999", "/v1/format/+442079460958", "/v1/format/hello"];
/// The calls in a cold start: the key, the manifest, and the snapshot's chunks in one call.
const COLD_START_CALLS: [&str; 3] = ["GetItem", "GetItem", "BatchGetItem"];

pub async fn calls_for(service: &Service, proxy: &FaultProxy, path: &str) -> Vec<AnsweredCall> {
    let status = service.get(path).await.status();
    assert!(!status.is_server_error(), "{path}: {status}");
    proxy.take_answered()
}

fn operations(calls: &[AnsweredCall]) -> Vec<&str> {
    calls.iter().map(|call| call.operation.as_str()).collect()
}

pub fn units(calls: &[AnsweredCall]) -> f64 {
    calls.iter().map(|call| call.units).sum()
}

/// A proxy for a database with the sample.
async fn proxy() -> FaultProxy {
    let sample = databases::with_sample().await;
    FaultProxy::transparent(sample.endpoint()).await
}

async fn cold_service(proxy: &FaultProxy) -> Service {
    let service = Service::patient(proxy).await;
    proxy.take_answered();
    service
}

/// A service with all current data and the sample key in memory.
pub async fn warm_service(proxy: &FaultProxy) -> Service {
    let service = cold_service(proxy).await;
    calls_for(&service, proxy, LISTS[0]).await;
    service
}

/// Asserts that a cold service reads the snapshot of at least `min_chunks` chunks in one eventually
/// consistent call at the documented cost, and a manifest with all retained versions.
pub async fn assert_snapshot_costs_half(proxy: &FaultProxy, min_chunks: u32) {
    let service = cold_service(proxy).await;
    let store = service.database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let retained = vec![manifest.current.clone(); 3];
    let full = Manifest { retained, ..manifest.clone() };
    store.publish(&full, &manifest.revision).await.unwrap();
    let snapshot = manifest.current;
    let bytes = store.snapshot(&snapshot).await.unwrap().len();
    assert!(snapshot.chunks >= min_chunks, "{}", snapshot.chunks);
    proxy.take_answered();
    let calls = calls_for(&service, proxy, "/v1/carriers").await;
    assert_eq!(operations(&calls), COLD_START_CALLS);
    assert_eq!(units(&calls[..2]), KEY_AND_MANIFEST_UNITS);
    assert_eq!(calls[2].units, snapshot_read_units(bytes as u32));
}

#[tokio::test]
async fn cold_starts_make_three_calls_and_lists_and_searches_make_none() {
    let proxy = proxy().await;
    for first in [LISTS[3], LISTS[5]] {
        let service = cold_service(&proxy).await;
        let calls = calls_for(&service, &proxy, first).await;
        assert_eq!(operations(&calls), COLD_START_CALLS, "{first}");
    }
    let service = warm_service(&proxy).await;
    for path in LISTS.into_iter().chain(WITHOUT_RECORD) {
        assert_eq!(calls_for(&service, &proxy, path).await, [], "{path}");
    }
    assert_snapshot_costs_half(&proxy, 1).await;
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
    proxy.take_answered();
    let mut calls = Vec::new();
    for target in ["/v1/format", "/v1/format", "/v1/format?cache=false"] {
        let body = serde_json::to_string(&numbers).unwrap();
        let response = service.post(target, "application/json", body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        calls.push(proxy.take_answered());
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
async fn rejected_requests_need_no_reads_and_unknown_keys_only_one() {
    let proxy = proxy().await;
    let service = warm_service(&proxy).await;
    for path in ["/v1/npa/41", "/v1/carriers?limit=0", "/v1/nowhere", "/v1/search?contry=US"] {
        assert_eq!(calls_for(&service, &proxy, path).await, [], "{path}");
    }
    for path in LISTS {
        assert_eq!(service.request(path).send().await.unwrap().status(), 401, "{path}");
        assert_eq!(proxy.take_answered(), [], "{path}");
    }
    let key = random(KeyKind::Live).unwrap();
    let status = async || {
        let request = service.request(LISTS[0]).bearer_auth(key.reveal());
        request.send().await.unwrap().status()
    };
    for _ in 0..20 {
        assert_eq!(status().await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(operations(&proxy.take_answered()), ["GetItem"]);
    // A new key works soon after it is created.
    register(&service.database.store(), &key, "new").await.unwrap();
    let works = wait_until(async || status().await == StatusCode::OK);
    tokio::time::timeout(Duration::from_secs(12), works).await.unwrap();
}

#[tokio::test]
async fn health_reads_the_manifest_each_time_and_the_keys_table_once_a_minute() {
    let proxy = proxy().await;
    let service = cold_service(&proxy).await;
    let first = calls_for(&service, &proxy, "/v1/health").await;
    let keys: Vec<_> = first.iter().filter(|call| call.table == "api_keys").collect();
    assert!(keys.len() == 1 && keys[0].units == 1.0, "{first:?}");
    let later = calls_for(&service, &proxy, "/v1/health").await;
    assert_eq!((operations(&later), units(&later)), (vec!["GetItem"], 1.0), "{later:?}");
    assert_eq!(later[0].table, "dataset");
}

#[tokio::test]
async fn past_lookups_read_and_charge_only_for_records_on_the_page() {
    let database = databases::with_history().await;
    let store = database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let start = store.history(&manifest, Timestamp::now()).await.unwrap().start().at;
    let proxy = FaultProxy::transparent(database.endpoint()).await;
    let service = warm_service(&proxy).await;
    let key = key_with_quotas(&store, None, Some(1000)).await;
    let calls = calls_for(&service, &proxy, &format!("/v1/carrier/908K?as_of={start}")).await;
    assert_eq!(operations(&calls)[0], "Query", "the publications, which are read once");
    let (now, mut left) = (Timestamp::now(), 1000);
    for (target, max_calls, max_units) in [
        // None of the data shown has changed.
        (format!("/v1/npa/600?as_of={start}"), 0, 0.0),
        // The current data is in memory.
        (format!("/v1/npa/416?limit=100&as_of={now}"), 0, 0.0),
        // Two of the exchanges, all of which were renamed.
        (format!("/v1/npa/416?limit=2&as_of={start}"), 1, 1.0),
        (format!("/v1/npa/416?limit=2&offset=100&as_of={start}"), 1, 1.0),
        (format!("/v1/npa/416?limit=16&as_of={start}"), 1, 8.0),
        (format!("/v1/npa/416?limit=17&as_of={start}"), 1, 8.5),
        (format!("/v1/npa/416?limit=100&as_of={start}"), 1, 50.0),
        (format!("/v1/npa/416/nxx/234?as_of={start}"), 1, 0.5),
        (format!("/v1/npa/416/nxx/234/blocks?as_of={start}"), 1, 0.5),
        // First the exchange, then its holder.
        (format!("/v1/lookup/4162345678?as_of={start}"), 2, 1.0),
        (format!("/v1/format/+14162345678?as_of={start}"), 2, 1.0),
        (format!("/v1/area-codes/416?as_of={start}"), usize::MAX, f64::MAX),
        (format!("/v1/changes?since={start}&limit=1"), usize::MAX, f64::MAX),
        (format!("/v1/changes?since={start}&npa=600"), usize::MAX, f64::MAX),
        (format!("/v1/changes?since={start}&format=atom"), usize::MAX, f64::MAX),
        ("/v1/npa/416/nxx/234/history".to_owned(), usize::MAX, f64::MAX),
        ("/v1/carrier/908K/history".to_owned(), usize::MAX, f64::MAX),
    ] {
        proxy.take_answered();
        let response = service.request(&target).bearer_auth(key.reveal()).send().await.unwrap();
        assert!(response.status().is_success(), "{target}: {}", response.status());
        let now_left: u64 = header(response.headers(), "x-ratelimit-remaining").parse().unwrap();
        let mut calls = proxy.take_answered();
        calls.retain(|call| !["usage", "api_keys"].contains(&call.table.as_str()));
        assert!(calls.len() <= max_calls && units(&calls) <= max_units, "{target}: {calls:?}");
        calls.retain(|call| call.table == "history");
        let price = ((units(&calls) / 8.0).ceil() as u64).max(1);
        assert_eq!(left - now_left, price, "{target}: {calls:?}");
        left = now_left;
    }

    let spent = key_with_quotas(&store, None, Some(3)).await;
    let target = format!("/v1/npa/416?limit=100&as_of={start}");
    proxy.take_answered();
    let response = service.request(&target).bearer_auth(spent.reveal()).send().await.unwrap();
    assert_eq!(response.status(), 429);
    let calls = proxy.take_answered();
    assert!(calls.iter().all(|call| call.table != "history"), "{calls:?}");
}
