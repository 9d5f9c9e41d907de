//! DynamoDB calls and capacity units per request.

use reqwest::StatusCode;

use crate::support::{
    database_calls::{COLD_START_CALLS, assert_snapshot_costs_half, calls_for, operations, units},
    databases,
    fault_proxy::FaultProxy,
    service::Service,
};

/// Lists and searches, with the smallest and largest pages, offsets and filters.
const LISTS: [&str; 7] = [
    "/v1/carriers",
    "/v1/carriers?q=sample&country=US&state=CA&type=WIRELESS",
    "/v1/npa/415?limit=100",
    "/v1/npa/415?limit=1&offset=1000000000",
    "/v1/npa?npa=416",
    "/v1/search?q=sample%20telephone&npa=415&status=ASSIGNED&state=CA",
    "/v1/search?company=nobody",
];
/// Requests without a record to read.
const WITHOUT_RECORD: [&str; 4] =
    ["/v1/carrier/ZZZZ", "/v1/npa/212/nxx/999", "/v1/format/+442079460958", "/v1/format/hello"];

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

#[tokio::test]
async fn cold_starts_make_three_calls_and_lists_and_searches_make_none() {
    let proxy = proxy().await;
    for first in LISTS {
        let service = cold_service(&proxy).await;
        let calls = calls_for(&service, &proxy, first).await;
        assert_eq!(operations(&calls), COLD_START_CALLS, "{first}");
    }
    let service = cold_service(&proxy).await;
    calls_for(&service, &proxy, LISTS[0]).await;
    for path in LISTS.into_iter().chain(WITHOUT_RECORD) {
        assert_eq!(calls_for(&service, &proxy, path).await, [], "{path}");
    }
}

/// Regardless of how many of the numbers share an exchange.
#[tokio::test]
async fn batches_read_each_uncached_exchange_once() {
    let proxy = proxy().await;
    let service = cold_service(&proxy).await;
    calls_for(&service, &proxy, LISTS[0]).await;
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
    // Numbers in invalid or toll-free exchanges need no read.
    let read = units(&cold) / 0.5;
    assert!((100.0..=200.0).contains(&read), "{read}");
    assert!(operations(&cold).len() <= 2, "{cold:?}");
    assert!(operations(&cold).iter().all(|operation| *operation == "BatchGetItem"), "{cold:?}");
    assert_eq!(cached, []);
    assert_eq!(units(&fresh), units(&cold));
}

#[tokio::test]
async fn rejected_requests_cost_no_reads_unless_their_key_is_unknown() {
    let proxy = proxy().await;
    let service = cold_service(&proxy).await;
    calls_for(&service, &proxy, LISTS[0]).await;
    for path in ["/v1/npa/41", "/v1/carriers?limit=0", "/v1/nowhere", "/v1/search?contry=US"] {
        assert_eq!(calls_for(&service, &proxy, path).await, [], "{path}");
    }
    for path in LISTS {
        assert_eq!(service.request(path).send().await.unwrap().status(), 401, "{path}");
        assert_eq!(proxy.take_answered(), [], "{path}");
    }
    let unknown = tnr::keys::random(shared::auth::KeyKind::Live).unwrap();
    let request = service.request(LISTS[0]).bearer_auth(unknown.reveal());
    assert_eq!(request.send().await.unwrap().status(), 401);
    assert_eq!(operations(&proxy.take_answered()), ["GetItem"]);
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
async fn snapshots_are_read_in_one_call_at_half_price() {
    let proxy = proxy().await;
    let service = cold_service(&proxy).await;
    assert_snapshot_costs_half(&service, &proxy, 1).await;
}
