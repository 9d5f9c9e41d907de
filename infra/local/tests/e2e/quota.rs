//! Quotas of keys: in every response, kept to by several containers at once, and free for keys
//! without.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use reqwest::{Response, StatusCode};
use serde_json::Value;
use shared::auth::ApiKey;
use store::{KeyRecord, Store};
use tnr::{
    args::KeyTerms,
    commands::keys::{random, register},
    database::Database,
};

use crate::{
    fault_proxy::{Fault, FaultProxy},
    service::{Service, fields},
};

/// A key with these quotas.
pub async fn key(store: &Store, per_minute: Option<u32>, per_day: Option<u32>) -> ApiKey {
    let key = random().unwrap();
    register(store, &key, "a client").await.unwrap();
    let record = store.api_key(&key.hash()).await.unwrap().unwrap();
    store.put_api_key(&KeyRecord { per_minute, per_day, ..record }).await.unwrap();
    key
}

async fn ask(service: &Service, key: &ApiKey) -> Response {
    service.request("/v1/npa/415?limit=1").bearer_auth(key.reveal()).send().await.unwrap()
}

fn number(response: &Response, header: &str) -> i64 {
    response.headers()[header].to_str().unwrap().parse().unwrap()
}

/// Requests counted in the table: everybody's, under each quota.
pub async fn counted(store: &Store) -> HashMap<String, u64> {
    let (client, tables) = store.parts();
    let items = client.scan().table_name(&tables.usage).send().await.unwrap().items.unwrap();
    let mut counted = HashMap::new();
    for item in items {
        let (quota_id, _hour) = item["id"].as_s().unwrap().split_once('#').unwrap();
        let tallies = item.values().filter_map(|value| value.as_l().ok());
        let sum: u64 = tallies.map(|tally| tally[0].as_n().unwrap().parse::<u64>().unwrap()).sum();
        *counted.entry(quota_id.to_owned()).or_default() += sum;
    }
    counted
}

/// Waits until so many requests are in the table.
async fn until_counted(store: &Store, key: &ApiKey, requests: u64) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found = counted(store).await.get(&key.hash()).copied();
        if found == Some(requests) {
            return;
        }
        assert!(Instant::now() < deadline, "{found:?} counted, not {requests}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn an_exhausted_quota_is_a_429_that_says_when_the_next_request_is_admitted() {
    let service = Service::with_sample().await;
    let key = key(&service.database.store(), Some(3), Some(1000)).await;
    let mut minute_resets = BTreeSet::new();
    for used in 1..=3 {
        let response = ask(&service, &key).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(number(&response, "x-ratelimit-minute-limit"), 3);
        assert_eq!(number(&response, "x-ratelimit-minute-remaining"), 3 - used);
        assert_eq!(number(&response, "x-ratelimit-limit"), 1000);
        assert_eq!(number(&response, "x-ratelimit-remaining"), 1000 - used);
        let day = number(&response, "x-ratelimit-reset");
        assert!(day % 3600 == 0 && day - Timestamp::now().as_second() > 22 * 3600, "{day}");
        minute_resets.insert(number(&response, "x-ratelimit-minute-reset"));
    }
    let response = ask(&service, &key).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    let reset = number(&response, "x-ratelimit-minute-reset");
    let wait = number(&response, "retry-after");
    assert!(minute_resets.contains(&reset) && reset % 5 == 0, "{reset} {minute_resets:?}");
    assert!((50..=60).contains(&wait), "{wait}");
    assert!((reset - Timestamp::now().as_second() - wait).abs() <= 1, "{reset} {wait}");
    assert_eq!(number(&response, "x-ratelimit-remaining"), 997);
    let body: Value = response.json().await.unwrap();
    assert_eq!(fields(&body), ["error", "message", "details"]);
    assert_eq!(body["error"], "rate_limited");
    assert_eq!(
        body["details"],
        serde_json::json!({ "limit_type": "minute", "limit": 3, "remaining": 0, "reset": reset })
    );
    let reset = Timestamp::from_second(reset).unwrap();
    assert_eq!(
        body["message"],
        format!("Quota of 3 requests per minute exceeded; retry after {reset}")
    );
    // What is refused counts neither against this key nor against another.
    until_counted(&service.database.store(), &key, 3).await;
    assert_eq!(service.get("/v1/npa/415").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_daily_quota_counts_errors_too_and_stands_in_the_headers_alone() {
    let service = Service::with_sample().await;
    let key = key(&service.database.store(), None, Some(2)).await;
    let request = service.request("/v1/carrier/9999").bearer_auth(key.reveal());
    let missing = request.send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert_eq!(number(&missing, "x-ratelimit-limit"), 2);
    assert!(!missing.headers().contains_key("x-ratelimit-minute-limit"));
    assert_eq!(ask(&service, &key).await.status(), StatusCode::OK);
    let body: Value = ask(&service, &key).await.json().await.unwrap();
    assert_eq!(body["details"]["limit_type"], "daily");
    let message = body["message"].as_str().unwrap();
    assert!(message.starts_with("Quota of 2 requests per day exceeded"), "{message}");
}

#[tokio::test]
async fn of_two_exhausted_quotas_the_one_that_lasts_longer_is_told() {
    let service = Service::with_sample().await;
    let key = key(&service.database.store(), Some(2), Some(2)).await;
    ask(&service, &key).await;
    ask(&service, &key).await;
    let response = ask(&service, &key).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(number(&response, "x-ratelimit-minute-remaining"), 0);
    assert!(number(&response, "retry-after") > 22 * 3600);
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["details"]["limit_type"], "daily");
}

#[tokio::test]
async fn a_rotated_key_shares_the_quota_of_the_one_it_replaces() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let old = key(&store, None, Some(4)).await;
    let new = random().unwrap();
    // The command shows the new key once; here its record is put under a key that is known.
    tnr::commands::keys::rotate(&store, old.reveal(), "1d".parse().unwrap()).await.unwrap();
    let records = store.api_keys().await.unwrap();
    let record = records.iter().find(|record| record.quota_id.is_some()).unwrap().clone();
    store.put_api_key(&KeyRecord { key_hash: new.hash(), ..record }).await.unwrap();
    for key in [&old, &new, &old, &new] {
        assert_eq!(ask(&service, key).await.status(), StatusCode::OK);
    }
    for key in [&old, &new] {
        assert_eq!(ask(&service, key).await.status(), StatusCode::TOO_MANY_REQUESTS);
    }
    until_counted(&store, &old, 4).await;
}

#[tokio::test]
async fn a_key_without_quotas_is_not_counted() {
    let service = Service::with_sample().await;
    let response = service.get("/v1/npa/415").await;
    assert!(!response.headers().keys().any(|name| name.as_str().starts_with("x-ratelimit")));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(counted(&service.database.store()).await.is_empty());
}

#[tokio::test]
async fn several_containers_keep_to_one_quota_with_few_writes() {
    const LIMIT: u32 = 200;
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = Arc::new(key(&store, Some(LIMIT), None).await);
    let writes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&writes);
    let policy = move |_, operation: &str| {
        if operation == "UpdateItem" {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        Fault::None
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let containers = futures_util::future::join_all((0..4).map(|_| async {
        let database = Database::at(proxy.endpoint.clone()).await.unwrap();
        let container = Service::on(database).await;
        let mut admitted = 0;
        for _ in 0..150 {
            admitted += u32::from(ask(&container, &key).await.status() == StatusCode::OK);
        }
        admitted
    }));
    let admitted: u32 = containers.await.into_iter().sum();
    // four containers may each be a tenth of what was left behind the others
    assert!((LIMIT..=LIMIT + LIMIT / 5).contains(&admitted), "{admitted}");
    until_counted(&store, &key, u64::from(admitted)).await;
    let writes = writes.load(Ordering::SeqCst) as u32;
    assert!(writes < admitted / 2, "{writes} writes for {admitted} requests");
}

#[tokio::test]
async fn without_the_table_of_counters_requests_go_on() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key(&store, Some(1000), None).await;
    store.parts().0.delete_table().table_name("usage").send().await.unwrap();
    for _ in 0..3 {
        assert_eq!(ask(&service, &key).await.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn terms_of_a_key_are_kept() {
    let service = Service::empty().await;
    let store = service.database.store();
    let terms = KeyTerms {
        note: Some("until the trial ends".to_owned()),
        expires: Some("90d".parse().unwrap()),
        per_minute: Some(60),
        per_day: None,
    };
    tnr::commands::keys::create(&store, "a client", &terms).await.unwrap();
    let key = store.api_keys().await.unwrap().into_iter().find(|key| key.name == "a client");
    let key = key.unwrap();
    assert_eq!(key.note.as_deref(), Some("until the trial ends"));
    assert_eq!((key.per_minute, key.per_day), (Some(60), None));
    assert!(key.expires_at.unwrap() > Timestamp::now());

    tnr::commands::keys::rotate(&store, &key.prefix, "1d".parse().unwrap()).await.unwrap();
    let keys = store.api_keys().await.unwrap();
    let of_client: Vec<_> = keys.iter().filter(|key| key.name == "a client").collect();
    let [old, new] = of_client.as_slice() else { panic!("{of_client:?}") };
    let (old, new) = if old.key_hash == key.key_hash { (old, new) } else { (new, old) };
    assert!(old.is_live(Timestamp::now()) && new.is_live(Timestamp::now()), "both work");
    assert!(old.expires_at < key.expires_at);
    assert_eq!((new.expires_at, new.per_minute, &new.note), (key.expires_at, Some(60), &key.note));
    assert_eq!(new.quota_id(), key.quota_id());
}

#[tokio::test]
async fn a_container_that_starts_late_learns_what_the_others_counted() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key(&store, None, Some(6)).await;
    for _ in 0..4 {
        ask(&service, &key).await;
    }
    until_counted(&store, &key, 4).await;
    let other = Database::at(service.database.endpoint().to_owned()).await.unwrap();
    let other = Service::on(other).await;
    // Its first request tells it of the four; without them its quota would last for six.
    assert_eq!(ask(&other, &key).await.status(), StatusCode::OK);
    until_counted(&store, &key, 5).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(ask(&other, &key).await.status(), StatusCode::OK);
    assert_eq!(ask(&other, &key).await.status(), StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_slow_table_delays_no_response() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key(&store, None, Some(100)).await;
    let slow = Fault::Late(Duration::from_millis(800));
    let policy = move |_, operation: &str| match operation {
        "UpdateItem" => slow,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let container = Service::on(Database::at(proxy.endpoint.clone()).await.unwrap()).await;
    ask(&container, &key).await;
    let started = Instant::now();
    for _ in 0..5 {
        assert_eq!(ask(&container, &key).await.status(), StatusCode::OK);
    }
    assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
    until_counted(&store, &key, 6).await;
}

/// A write whose answer gets lost is repeated; it must not count twice.
#[tokio::test]
async fn a_write_whose_answer_is_lost_counts_once() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key(&store, None, Some(100)).await;
    let lost = AtomicUsize::new(0);
    let policy = move |_, operation: &str| match operation {
        "UpdateItem" if lost.fetch_add(1, Ordering::SeqCst) < 2 => Fault::BrokenOff,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let container = Service::on(Database::at(proxy.endpoint.clone()).await.unwrap()).await;
    for _ in 0..5 {
        ask(&container, &key).await;
    }
    tokio::time::sleep(Duration::from_secs(4)).await;
    let response = ask(&container, &key).await;
    assert_eq!(number(&response, "x-ratelimit-remaining"), 94);
    until_counted(&store, &key, 6).await;
}
