//! A DynamoDB that hangs, is slow, refuses, throttles or flaps, with data and keys in memory. Clients
//! notice nothing, and the database is spared.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{StreamExt, future::join_all, stream};
use reqwest::StatusCode;
use serde_json::{Value, json};
use store::{CurrentDataset, Store, TimeoutProfile};
use tnr::keys;

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    service::{KEY, Service},
};

/// A lookup that reads DynamoDB each time.
const LOOKUP: &str = "/v1/carrier/908K";
const CLIENTS: usize = 20;
const LOOKUPS: usize = 200;
/// The SDK's attempts per call.
const ATTEMPTS: usize = 3;
/// Time for which a failed table is left alone.
const PAUSE: Duration = Duration::from_secs(3);
/// A pause, and one more request that probes the table.
const MAX_RECOVERY: Duration = Duration::from_secs(5);

/// A service behind a proxy, with data and key in memory, and a switch for the fault.
struct Outage {
    service: Service,
    proxy: FaultProxy,
    is_failing: Arc<AtomicBool>,
    expected: Value,
}

impl Outage {
    async fn prepare(endpoint: &str, fault: impl Fn() -> Fault + Send + Sync + 'static) -> Self {
        let is_failing = Arc::new(AtomicBool::new(false));
        let fails = Arc::clone(&is_failing);
        let policy =
            move |_, _: &str| if fails.load(Ordering::SeqCst) { fault() } else { Fault::None };
        let proxy = FaultProxy::before(endpoint, policy).await;
        let service = Service::behind(&proxy).await;
        let expected = service.ok(LOOKUP).await;
        service.ok("/health").await;
        Self { service, proxy, is_failing, expected }
    }

    fn begin(&self) {
        self.is_failing.store(true, Ordering::SeqCst);
        self.proxy.reset();
    }

    fn end(&self) {
        self.is_failing.store(false, Ordering::SeqCst);
    }

    async fn look_up(&self, times: usize) {
        let lookups = stream::iter(0..times).map(async |_| {
            assert_eq!(self.service.ok(LOOKUP).await, self.expected);
        });
        lookups.buffer_unordered(CLIENTS).collect::<()>().await;
    }

    /// Waits until a lookup has read its item again and the service is healthy.
    async fn recover(&self) {
        let ended = Instant::now();
        self.proxy.take_answered();
        loop {
            self.look_up(1).await;
            let is_read = self.proxy.take_answered().iter().any(|call| call.operation == "GetItem");
            if is_read && self.service.ok("/health").await["status"] == "healthy" {
                return;
            }
            // Twice the time, since other tests keep the machine busy.
            assert!(ended.elapsed() < 2 * MAX_RECOVERY, "no recovery");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn lookups_answer_from_memory_and_spare_a_failing_database() {
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
    let outages = faults.map(async |fault| {
        let outage = Outage::prepare(sample.database.endpoint(), move || fault).await;
        outage.begin();
        let began = Instant::now();
        outage.look_up(LOOKUPS).await;
        let pauses = began.elapsed().as_secs() as usize / PAUSE.as_secs() as usize;
        let most = ATTEMPTS * (CLIENTS + pauses);
        assert!(outage.proxy.calls() <= most, "{fault:?}: {} calls", outage.proxy.calls());
        let health = outage.service.ok("/health").await;
        assert_eq!(health["database"], "error", "{fault:?}");
        outage.end();
        outage.recover().await;
    });
    join_all(outages).await;
}

#[tokio::test]
async fn lookups_wait_for_a_slightly_slow_database() {
    let sample = Service::with_sample().await;
    let late = Fault::Late(Duration::from_millis(100));
    let outage = Outage::prepare(sample.database.endpoint(), move || late).await;
    outage.begin();
    outage.look_up(CLIENTS).await;
    assert!(outage.proxy.calls() > 0);
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

#[tokio::test]
async fn no_lookup_fails_while_the_database_flaps() {
    let sample = Service::with_sample().await;
    let began = Instant::now();
    let fault = move || {
        let is_up = (began.elapsed().as_millis() / 400).is_multiple_of(2);
        if is_up { Fault::None } else { Fault::Stall }
    };
    let outage = Outage::prepare(sample.database.endpoint(), fault).await;
    outage.begin();
    while began.elapsed() < PAUSE + Duration::from_secs(1) {
        outage.look_up(CLIENTS).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    outage.end();
    outage.recover().await;
}

#[tokio::test]
async fn batches_answer_from_memory_and_spare_a_failing_database() {
    let sample = Service::with_sample().await;
    let numbers: Vec<_> = (0..300).map(|line| format!("+1415234{line:04}")).collect();
    let body = json!(numbers).to_string();
    let outages = [Fault::Stall, Fault::Dead, Fault::Unprocessed, Fault::Throttled];
    let outages = outages.map(async |fault| {
        let outage = Outage::prepare(sample.database.endpoint(), move || fault).await;
        let ask = async || {
            let path = "/v1/format?cache=false";
            let request = outage.service.post(path, "application/json", body.clone());
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::OK, "{fault:?}");
            response.text().await.unwrap()
        };
        let expected = ask().await;
        outage.begin();
        let began = Instant::now();
        for _ in 0..3 {
            assert_eq!(ask().await, expected, "{fault:?}");
        }
        // Far above the actual wait, since other tests keep the machine busy.
        assert!(began.elapsed() < 2 * MAX_RECOVERY, "{fault:?}: {:?}", began.elapsed());
        assert!(outage.proxy.calls() <= 3 * ATTEMPTS, "{fault:?}: {}", outage.proxy.calls());
    });
    join_all(outages).await;
}

#[tokio::test]
async fn unknown_keys_are_not_admitted_and_cost_few_calls_during_an_outage() {
    let sample = Service::with_sample().await;
    let outage = Outage::prepare(sample.database.endpoint(), || Fault::Stall).await;
    outage.begin();
    let unknown: Vec<_> = (0..40).map(|_| keys::random().unwrap()).collect();
    let asked = unknown.iter().map(async |key| {
        let request = outage.service.request(LOOKUP).bearer_auth(key.reveal());
        let response = request.send().await.unwrap();
        let retry_after = response.headers()["retry-after"].clone();
        (response.status(), retry_after, response.json::<Value>().await.unwrap())
    });
    for (status, retry_after, body) in join_all(asked).await {
        assert_eq!((status, retry_after), (StatusCode::SERVICE_UNAVAILABLE, "5".parse().unwrap()));
        let message = "The API key cannot be checked at the moment; retry in a few seconds";
        assert_eq!(body, json!({ "error": "service_unavailable", "message": message }));
    }
    outage.proxy.reset();
    for key in &unknown {
        let request = outage.service.request(LOOKUP).bearer_auth(key.reveal());
        assert_eq!(request.send().await.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    assert!(outage.proxy.calls() <= 2 * ATTEMPTS, "{} calls", outage.proxy.calls());
    assert_eq!(
        outage.service.request(LOOKUP).bearer_auth(KEY).send().await.unwrap().status(),
        StatusCode::OK
    );
}
