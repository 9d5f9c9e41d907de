//! Quotas of keys: told on every answer, kept to with several containers at once, and free for keys
//! without.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use local::{
    cli::KeyTerms,
    database::Database,
    keys::{random, register},
};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use shared::{
    auth::ApiKey,
    store::{KeyRecord, Store},
};

use crate::{
    fault_proxy::{Fault, FaultProxy},
    service::{Service, fields},
};

/// A key with these quotas.
async fn key(store: &Store, per_minute: Option<u32>, per_day: Option<u32>) -> ApiKey {
    let key = random().unwrap();
    register(store, &key, "a client").await.unwrap();
    let record = store.api_key(&key.hash()).await.unwrap().unwrap();
    store.put_api_key(&KeyRecord { per_minute, per_day, ..record }).await.unwrap();
    key
}

async fn ask(service: &Service, key: &ApiKey) -> Response {
    service.request("/v1/npa/415?limit=1").bearer_auth(key.reveal()).send().await.unwrap()
}

/// Waits until a minute has begun in which the test will end.
async fn within_a_minute() {
    let second = Timestamp::now().as_second() % 60;
    if second > 40 {
        tokio::time::sleep(Duration::from_secs(61 - second as u64)).await;
    }
}

fn number(response: &Response, header: &str) -> i64 {
    response.headers()[header].to_str().unwrap().parse().unwrap()
}

async fn counters(store: &Store) -> Vec<u64> {
    let (client, tables) = store.parts();
    let items = client.scan().table_name(&tables.usage).send().await.unwrap().items.unwrap();
    items.iter().map(|item| item["used"].as_n().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn a_used_up_quota_is_a_429_that_says_when_to_go_on() {
    let service = Service::with_sample().await;
    let key = key(&service.database.store(), Some(3), Some(1000)).await;
    within_a_minute().await;
    for remaining in [2, 1, 0] {
        let response = ask(&service, &key).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(number(&response, "x-ratelimit-limit"), 3);
        assert_eq!(number(&response, "x-ratelimit-remaining"), remaining);
    }
    let response = ask(&service, &key).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    let (reset, wait) = (number(&response, "x-ratelimit-reset"), number(&response, "retry-after"));
    assert!(reset % 60 == 0 && (1..=60).contains(&wait), "{reset} {wait}");
    assert!((reset - Timestamp::now().as_second() - wait).abs() <= 1, "{reset} {wait}");
    let body: Value = response.json().await.unwrap();
    assert_eq!(fields(&body), ["error", "message", "details"]);
    assert_eq!(body["error"], "rate_limited");
    let reset = Timestamp::from_second(reset).unwrap().to_string();
    assert_eq!(
        body["details"],
        serde_json::json!({
            "limit_type": "per_minute", "limit": 3, "remaining": 0, "reset": reset
        })
    );
    assert_eq!(
        body["message"],
        format!("This API key may make 3 requests a minute; it may go on at {reset}")
    );
    // a key that is refused is not counted against, nor is another key
    assert_eq!(service.get("/v1/npa/415").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_daily_quota_counts_errors_too_and_is_told_where_it_is_the_tighter() {
    let service = Service::with_sample().await;
    let key = key(&service.database.store(), Some(1000), Some(2)).await;
    let request = service.request("/v1/carrier/9999").bearer_auth(key.reveal());
    let missing = request.send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert_eq!(number(&missing, "x-ratelimit-limit"), 2);
    assert_eq!(ask(&service, &key).await.status(), StatusCode::OK);
    let body: Value = ask(&service, &key).await.json().await.unwrap();
    assert_eq!(body["details"]["limit_type"], "per_day");
}

#[tokio::test]
async fn a_key_without_quotas_is_not_counted() {
    let service = Service::with_sample().await;
    let response = service.get("/v1/npa/415").await;
    assert!(!response.headers().keys().any(|name| name.as_str().starts_with("x-ratelimit")));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(counters(&service.database.store()).await, [0; 0]);
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
    within_a_minute().await;
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
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (writes, counted) = (writes.load(Ordering::SeqCst) as u32, counters(&store).await);
    assert!(writes < admitted / 2, "{writes} writes for {admitted} requests");
    assert!(counted[0] <= u64::from(admitted), "{counted:?}");
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
    local::keys::create(&store, "a client", &terms).await.unwrap();
    let key = store.api_keys().await.unwrap().into_iter().find(|key| key.name == "a client");
    let key = key.unwrap();
    assert_eq!(key.note.as_deref(), Some("until the trial ends"));
    assert_eq!((key.per_minute, key.per_day), (Some(60), None));
    assert!(key.expires_at.unwrap() > Timestamp::now());

    local::keys::rotate(&store, &key.prefix, "1d".parse().unwrap()).await.unwrap();
    let keys = store.api_keys().await.unwrap();
    let of_client: Vec<_> = keys.iter().filter(|key| key.name == "a client").collect();
    let [old, new] = of_client.as_slice() else { panic!("{of_client:?}") };
    let (old, new) = if old.key_hash == key.key_hash { (old, new) } else { (new, old) };
    assert!(old.is_live(Timestamp::now()) && new.is_live(Timestamp::now()), "both work");
    assert!(old.expires_at < key.expires_at);
    assert_eq!((new.expires_at, new.per_minute, &new.note), (key.expires_at, Some(60), &key.note));
}
