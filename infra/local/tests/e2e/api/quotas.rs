//! Quotas: response headers, counts shared by all containers, and keys without a quota. A batch counts as one request
//! per number.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use jiff::Timestamp;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use shared::auth::{ApiKey, KeyKind};
use store::Store;
use tnr::{
    database::Database,
    keys::{args::KeyTerms, create, rotate},
};

use crate::support::{
    fault_proxy::{Fault, FaultProxy, for_operation},
    keys::{counted_requests, key_with_quotas},
    service::{KEY, Service, fields, header, shared_service},
};

async fn get(service: &Service, key: &ApiKey) -> Response {
    service.request("/v1/npa/415?limit=1").bearer_auth(key.reveal()).send().await.unwrap()
}

/// Sends this many numbers in one request.
async fn send(service: &Service, key: &ApiKey, numbers: usize) -> Response {
    let request = service.request_with(Method::POST, "/v1/format").bearer_auth(key.reveal());
    let request = request.header("content-type", "text/plain");
    request.body("+442079460958\n".repeat(numbers)).send().await.unwrap()
}

/// The remaining requests for the minute and the day.
fn remaining(response: &Response) -> [&str; 2] {
    ["x-ratelimit-minute-remaining", "x-ratelimit-remaining"]
        .map(|name| header(response.headers(), name))
}

fn header_number(response: &Response, header: &str) -> i64 {
    response.headers()[header].to_str().unwrap().parse().unwrap()
}

/// Waits until this many requests are counted in the table.
async fn wait_until_counted(store: &Store, key: &ApiKey, requests: u64) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found = counted_requests(store).await.get(&key.hash()).copied();
        if found == Some(requests) {
            return;
        }
        assert!(Instant::now() < deadline, "{found:?} counted, not {requests}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn exhausted_quotas_return_429_with_a_retry_time() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(3), Some(1000)).await;
    let mut minute_resets = BTreeSet::new();
    for used in 1..=3 {
        let response = get(service, &key).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header_number(&response, "x-ratelimit-minute-limit"), 3);
        assert_eq!(header_number(&response, "x-ratelimit-minute-remaining"), 3 - used);
        assert_eq!(header_number(&response, "x-ratelimit-limit"), 1000);
        assert_eq!(header_number(&response, "x-ratelimit-remaining"), 1000 - used);
        let day = header_number(&response, "x-ratelimit-reset");
        assert!(day % 3600 == 0 && day - Timestamp::now().as_second() > 22 * 3600, "{day}");
        minute_resets.insert(header_number(&response, "x-ratelimit-minute-reset"));
    }
    let sent = Timestamp::now().as_second();
    let response = get(service, &key).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    let reset = header_number(&response, "x-ratelimit-minute-reset");
    let wait = header_number(&response, "retry-after");
    assert!(minute_resets.contains(&reset) && reset % 5 == 0, "{reset} {minute_resets:?}");
    assert!((50..=60).contains(&wait), "{wait}");
    let received = Timestamp::now().as_second();
    assert!((sent - 1..=received + 1).contains(&(reset - wait)), "{sent} {reset} {wait}");
    assert_eq!(header_number(&response, "x-ratelimit-remaining"), 997);
    let body: Value = response.json().await.unwrap();
    assert_eq!(fields(&body), ["error", "message", "details"]);
    assert_eq!(body["error"], "rate_limited");
    assert_eq!(
        body["details"],
        json!({ "limit_type": "minute", "limit": 3, "remaining": 0, "reset": reset })
    );
    let reset = Timestamp::from_second(reset).unwrap();
    assert_eq!(
        body["message"],
        format!("Quota of 3 requests per minute exceeded; retry after {reset}")
    );
    // Rejected requests are not counted.
    wait_until_counted(&service.database.store(), &key, 3).await;
    // Requests with a key that has no quota are not counted either.
    let response = service.get("/v1/npa/415").await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.headers().keys().any(|name| name.as_str().starts_with("x-ratelimit")));
    let counted = counted_requests(&service.database.store()).await;
    assert_eq!(counted.get(&KEY.parse::<ApiKey>().unwrap().hash()), None);
}

#[tokio::test]
async fn a_daily_quota_without_a_minute_quota_counts_errors() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), None, Some(2)).await;
    let request = service.request("/v1/carrier/9999").bearer_auth(key.reveal());
    let missing = request.send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert_eq!(header_number(&missing, "x-ratelimit-limit"), 2);
    assert!(!missing.headers().contains_key("x-ratelimit-minute-limit"));
    assert_eq!(get(service, &key).await.status(), StatusCode::OK);
    let body: Value = get(service, &key).await.json().await.unwrap();
    assert_eq!(body["details"]["limit_type"], "daily");
    let message = body["message"].as_str().unwrap();
    assert!(message.starts_with("Quota of 2 requests per day exceeded"), "{message}");
}

#[tokio::test]
async fn batches_to_several_slow_containers_never_exceed_the_quota() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, Some(60), None).await;
    let containers = [0, 50, 200, 400].map(async |delay| {
        let policy = move |_, operation: &str| match operation {
            "UpdateItem" => Fault::Late(Duration::from_millis(delay)),
            _ => Fault::None,
        };
        let proxy = FaultProxy::new(service.database.endpoint(), policy).await;
        let container = Service::behind(&proxy).await;
        // Loads the data.
        container.ok("/v1/npa/415?limit=1").await;
        container
    });
    let containers = join_all(containers).await;
    let targets = containers.iter().flat_map(|container| [container; 4]);
    let responses = join_all(targets.map(|container| send(container, &key, 10))).await;
    let admitted = responses.iter().filter(|response| response.status() == StatusCode::OK).count();
    // Each of the others counts as one, so fewer than six may fit.
    assert!((1..=6).contains(&admitted), "{admitted}");
}

#[tokio::test]
async fn a_rotated_key_keeps_the_terms_of_the_one_it_replaces() {
    let database = Database::in_memory().await.unwrap();
    let store = database.store();
    let terms = KeyTerms {
        note: Some("until the trial ends".to_owned()),
        expires: Some("90d".parse().unwrap()),
        per_minute: Some(60),
        per_day: None,
    };
    create(&store, "a client", KeyKind::Live, &terms).await.unwrap();
    let key = &store.api_keys().await.unwrap()[0];
    assert_eq!(key.note.as_deref(), Some("until the trial ends"));
    assert_eq!((key.per_minute, key.per_day), (Some(60), None));
    assert!(key.expires_at.unwrap() > Timestamp::now());

    rotate(&store, &key.prefix, "1d".parse().unwrap()).await.unwrap();
    let keys = store.api_keys().await.unwrap();
    assert_eq!(keys.len(), 2);
    let old = keys.iter().find(|record| record.key_hash == key.key_hash).unwrap();
    let new = keys.iter().find(|record| record.key_hash != key.key_hash).unwrap();
    assert!(old.is_live(Timestamp::now()) && new.is_live(Timestamp::now()), "both work");
    assert!(old.expires_at < key.expires_at);
    assert_eq!((new.expires_at, new.per_minute, &new.note), (key.expires_at, Some(60), &key.note));
    assert_eq!(new.quota_id(), key.quota_id());
}

#[tokio::test]
async fn an_unresponsive_usage_table_delays_no_requests_after_two_failed_writes() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, None, Some(100)).await;
    let policy = for_operation("UpdateItem", Fault::Late(Duration::from_millis(1600)));
    let proxy = FaultProxy::new(service.database.endpoint(), policy).await;
    let container = Service::behind(&proxy).await;
    container.get("/v1/npa/415").await;
    let started = Instant::now();
    // A request that exceeds what a container may admit on its own waits for a write, which fails after a second.
    for _ in 0..12 {
        assert_eq!(get(&container, &key).await.status(), StatusCode::OK);
    }
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    for _ in 0..10 {
        let started = Instant::now();
        assert_eq!(get(&container, &key).await.status(), StatusCode::OK);
        assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
    }
    wait_until_counted(&store, &key, 22).await;
}

/// The bound that `docs/OPERATIONS.md` promises while the table fails.
#[tokio::test]
async fn containers_without_the_usage_table_each_admit_exactly_the_quota() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), Some(6), None).await;
    let policy = for_operation("UpdateItem", Fault::NonRetryable);
    let proxy = FaultProxy::new(service.database.endpoint(), policy).await;
    let containers = join_all((0..4).map(|_| Service::behind(&proxy))).await;
    let admitted = containers.iter().map(async |container| {
        let responses = join_all((0..9).map(|_| get(container, &key))).await;
        responses.iter().filter(|response| response.status() == StatusCode::OK).count()
    });
    assert_eq!(join_all(admitted).await, [6; 4]);
}

#[tokio::test]
async fn batches_beyond_the_quota_are_rejected_as_a_whole_and_count_as_one() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(10), Some(100)).await;
    let response = send(service, &key, 7).await;
    assert_eq!((response.status(), remaining(&response)), (StatusCode::OK, ["3", "93"]));

    let rejected = send(service, &key, 4).await;
    assert_eq!(rejected.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(remaining(&rejected), ["2", "92"]);
    assert!((50..=60).contains(&header_number(&rejected, "retry-after")));
    let body: Value = rejected.json().await.unwrap();
    assert_eq!(body["details"]["limit_type"], "minute");
    assert_eq!(body["details"]["remaining"], 2);
    let message = body["message"].as_str().unwrap();
    let expected = "Quota of 10 requests per minute has 2 left, and this request counts as 4; send one \
                    that counts as at most 2, or retry after ";
    assert!(message.starts_with(expected), "{message}");

    let too_large = send(service, &key, 11).await;
    assert_eq!(too_large.status(), StatusCode::TOO_MANY_REQUESTS);
    // With a `Retry-After`, the client would retry forever.
    assert_eq!(too_large.headers().get("retry-after"), None);
    let body: Value = too_large.json().await.unwrap();
    let expected = "Quota of 10 requests per minute has 1 left, and this request counts as 11; send one \
                    that counts as at most 1";
    assert_eq!(body["message"], expected);
    assert_eq!(remaining(&send(service, &key, 1).await), ["0", "90"]);
    assert_eq!(send(service, &key, 1).await.status(), StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn rejected_bodies_count_as_one_request() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(10), None).await;
    for (target, content_type, body, left) in [
        ("/v1/format", "text/plain", String::new(), "9"),
        ("/v1/format", "application/xml", "<a/>".to_owned(), "8"),
        ("/v1/format", "text/plain", "1\n".repeat(1001), "7"),
        ("/v1/format?tn=1", "text/plain", "1\n2\n3".to_owned(), "6"),
        ("/v1/find", "text/csv", "305 234 5678".to_owned(), "5"),
    ] {
        let request = service.request_with(Method::POST, target).bearer_auth(key.reveal());
        let request = request.header("content-type", content_type).body(body);
        let response = request.send().await.unwrap();
        assert!(response.status().is_client_error());
        assert_eq!(remaining(&response), [left, ""]);
    }
    assert_eq!(remaining(&send(service, &key, 5).await), ["0", ""]);
}

#[tokio::test]
async fn a_text_counts_as_one_request_per_number_or_100_digits() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(10), None).await;
    let digits = "12345 ".repeat(41);
    for (text, left) in [
        ("305 234 5678 or +44 20 7946 0958", "8"),
        ("no number", "7"),
        ("", "6"),
        // 205 digits.
        (&digits, "3"),
    ] {
        let request = service.request_with(Method::POST, "/v1/find").bearer_auth(key.reveal());
        let request = request.header("content-type", "text/plain").body(text.to_owned());
        assert_eq!(remaining(&request.send().await.unwrap()), [left, ""], "{text}");
    }
}
