//! A DynamoDB that hangs, is slow, fails or throttles, with data and keys in memory. Clients notice nothing, and the
//! database gets few calls.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, future::join_all, stream};
use serde_json::json;
use store::{CurrentDataset, Store, TimeoutProfile};

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    service::Service,
};

/// A lookup that reads DynamoDB each time.
const LOOKUP: &str = "/v1/carrier/908K";
const CLIENTS: usize = 20;
const LOOKUPS: usize = 200;
/// The number of attempts that the SDK makes per call.
const ATTEMPTS: usize = 3;
/// The time that a failed table's circuit breaker stays open.
const PAUSE: Duration = Duration::from_secs(3);
/// Far above the actual wait, since other tests keep the machine busy.
const MAX_BATCHES_TIME: Duration = Duration::from_secs(10);

#[tokio::test]
async fn lookups_and_batches_use_memory_and_spare_a_failing_database() {
    let sample = Service::with_sample().await;
    let faults = [
        Fault::Stall,
        Fault::Late(Duration::from_secs(1)),
        Fault::Late(Duration::from_secs(5)),
        Fault::NonRetryable,
        Fault::Reset,
        Fault::Throttled,
        Fault::InternalError,
    ];
    join_all(faults.map(|fault| assert_no_effect(sample.database.endpoint(), fault))).await;
}

/// Asserts that responses stay the same and calls are few while every call fails in this way.
async fn assert_no_effect(endpoint: &str, fault: Fault) {
    let proxy = FaultProxy::with_switch(endpoint, fault).await;
    let service = Service::behind(&proxy).await;
    let numbers: Vec<_> = (0..30).map(|line| format!("+1415234{line:04}")).collect();
    let batch = async || {
        let body = json!(numbers).to_string();
        let request = service.post("/v1/format?cache=false", "application/json", body);
        request.send().await.unwrap().error_for_status().unwrap().text().await.unwrap()
    };
    let (lookup, formatted) = (service.ok(LOOKUP).await, batch().await);
    proxy.start_failing();
    proxy.reset();
    let started = Instant::now();
    for _ in 0..3 {
        assert_eq!(batch().await, formatted, "{fault:?}");
    }
    assert!(started.elapsed() < MAX_BATCHES_TIME, "{fault:?}: {:?}", started.elapsed());
    let lookups = stream::iter(0..LOOKUPS).map(async |_| {
        assert_eq!(service.ok(LOOKUP).await, lookup, "{fault:?}");
    });
    lookups.buffer_unordered(CLIENTS).collect::<()>().await;
    let pauses = started.elapsed().as_secs() as usize / PAUSE.as_secs() as usize;
    let max_calls = ATTEMPTS * (3 + CLIENTS + pauses);
    assert!(proxy.calls() <= max_calls, "{fault:?}: {} calls", proxy.calls());
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
