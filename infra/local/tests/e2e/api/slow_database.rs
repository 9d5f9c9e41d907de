//! A DynamoDB that hangs, is slow, refuses or throttles, with data and keys in memory. Clients notice nothing,
//! and the database is spared.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

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
/// The SDK's attempts per call.
const ATTEMPTS: usize = 3;
/// Time for which a failed table is left alone.
const PAUSE: Duration = Duration::from_secs(3);
/// Far above the actual wait, since other tests keep the machine busy.
const MAX_BATCHES_TIME: Duration = Duration::from_secs(10);

#[tokio::test]
async fn lookups_and_batches_answer_from_memory_and_spare_a_failing_database() {
    let sample = Service::with_sample().await;
    let faults = [
        Fault::Stall,
        Fault::Late(Duration::from_secs(1)),
        Fault::Late(Duration::from_secs(5)),
        Fault::Dead,
        Fault::Reset,
        Fault::Throttled,
        Fault::InternalError,
    ];
    join_all(faults.map(|fault| assert_unnoticed(sample.database.endpoint(), fault))).await;
}

/// Asserts that answers stay the same and calls are few while every call meets this fault.
async fn assert_unnoticed(endpoint: &str, fault: Fault) {
    let is_failing = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&is_failing);
    let policy = move |_, _: &str| if fails.load(Ordering::SeqCst) { fault } else { Fault::None };
    let proxy = FaultProxy::before(endpoint, policy).await;
    let service = Service::behind(&proxy).await;
    let numbers: Vec<_> = (0..30).map(|line| format!("+1415234{line:04}")).collect();
    let batch = async || {
        let body = json!(numbers).to_string();
        let request = service.post("/v1/format?cache=false", "application/json", body);
        request.send().await.unwrap().error_for_status().unwrap().text().await.unwrap()
    };
    let (lookup, formatted) = (service.ok(LOOKUP).await, batch().await);
    is_failing.store(true, Ordering::SeqCst);
    proxy.reset();
    let began = Instant::now();
    for _ in 0..3 {
        assert_eq!(batch().await, formatted, "{fault:?}");
    }
    assert!(began.elapsed() < MAX_BATCHES_TIME, "{fault:?}: {:?}", began.elapsed());
    let lookups = stream::iter(0..LOOKUPS).map(async |_| {
        assert_eq!(service.ok(LOOKUP).await, lookup, "{fault:?}");
    });
    lookups.buffer_unordered(CLIENTS).collect::<()>().await;
    let pauses = began.elapsed().as_secs() as usize / PAUSE.as_secs() as usize;
    let most = ATTEMPTS * (3 + CLIENTS + pauses);
    assert!(proxy.calls() <= most, "{fault:?}: {} calls", proxy.calls());
}

#[tokio::test]
async fn a_server_waits_for_its_own_slow_database() {
    let sample = Service::with_sample().await;
    let late = |_, _: &str| Fault::Late(Duration::from_millis(2500));
    let proxy = FaultProxy::before(sample.database.endpoint(), late).await;
    let store = Store::at_emulator(&proxy.endpoint, TimeoutProfile::EmbeddedRequest);
    let loaded = CurrentDataset::new(store).get().await.unwrap();
    let stored = sample.database.store().manifest().await.unwrap().unwrap();
    assert_eq!(loaded.version, stored.current.version);
}
