//! Reads and prices of requests for the past.

use jiff::Timestamp;

use crate::support::{
    database_calls::{calls_for, operations, units},
    databases,
    fault_proxy::FaultProxy,
    keys::key_with_quotas,
    service::{Service, header},
};

/// A service with everything in memory but the past, its proxy, and the time of the version before the current one.
async fn service_with_history() -> (Service, FaultProxy, Timestamp) {
    let database = databases::with_history().await;
    let store = database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let history = store.history(&manifest, Timestamp::now()).await.unwrap();
    let start = history.start().at;
    let proxy = FaultProxy::transparent(database.endpoint()).await;
    let service = Service::patient(&proxy).await;
    // Keeps the database open.
    std::mem::forget(database);
    service.ok("/v1/carriers").await;
    proxy.take_answered();
    (service, proxy, start)
}

#[tokio::test]
async fn a_lookup_of_the_past_reads_only_what_its_page_shows_and_is_charged_for_it() {
    let (service, proxy, start) = service_with_history().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, None, Some(1000)).await;
    proxy.take_answered();
    let calls = calls_for(&service, &proxy, &format!("/v1/carrier/908K?as_of={start}")).await;
    assert_eq!(operations(&calls)[0], "Query", "the publications, which are read once");
    let (now, mut left) = (Timestamp::now(), 1000);
    for (target, max_calls, max_units) in [
        // Nothing that it shows has changed.
        (format!("/v1/npa/600?as_of={start}"), 0, 0.0),
        // The current data is in memory.
        (format!("/v1/npa/416?limit=100&as_of={now}"), 0, 0.0),
        // Two exchanges, all of which were renamed.
        (format!("/v1/npa/416?limit=2&as_of={start}"), 1, 1.0),
        (format!("/v1/npa/416?limit=2&offset=100&as_of={start}"), 1, 1.0),
        (format!("/v1/npa/416?limit=16&as_of={start}"), 1, 8.0),
        (format!("/v1/npa/416?limit=17&as_of={start}"), 1, 8.5),
        (format!("/v1/npa/416?limit=100&as_of={start}"), 1, 50.0),
        (format!("/v1/npa/416/nxx/234?as_of={start}"), 1, 0.5),
        (format!("/v1/npa/416/nxx/234/blocks?as_of={start}"), 1, 0.5),
        // An exchange, then its holder.
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
