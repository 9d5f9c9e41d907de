//! Quotas: response headers, counts shared by all containers, and keys without a quota. A batch counts as one request
//! per number.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use jiff::Timestamp;
use reqwest::{Method, Response, StatusCode};
use serde_json::json;
use shared::auth::{ApiKey, KeyKind};
use store::Store;
use tnr::{
    database::Database,
    keys::{args::KeyTerms, create, rotate},
};

use crate::support::{
    fault_proxy::{Fault, FaultProxy, for_operation},
    keys::{counted_requests, key_with_quotas},
    service::{KEY, Service, header, shared_service},
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
    for left in ["2", "1", "0"] {
        let response = get(service, &key).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(remaining(&response)[0], left);
        let day = header_number(&response, "x-ratelimit-reset");
        assert!(day % 3600 == 0 && day - Timestamp::now().as_second() > 22 * 3600, "{day}");
    }
    let sent = Timestamp::now().as_second();
    let response = get(service, &key).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(remaining(&response), ["0", "997"]);
    let reset = header_number(&response, "x-ratelimit-minute-reset");
    let wait = header_number(&response, "retry-after");
    assert!((50..=60).contains(&wait) && reset % 5 == 0, "{wait} {reset}");
    let received = Timestamp::now().as_second();
    assert!((sent - 1..=received + 1).contains(&(reset - wait)), "{sent} {reset} {wait}");
    let at = Timestamp::from_second(reset).unwrap();
    let expected = json!({
        "error": "rate_limited",
        "message": format!("Quota of 3 requests per minute exceeded; retry after {at}"),
        "details": { "limit_type": "minute", "limit": 3, "remaining": 0, "reset": reset },
    });
    assert_eq!(response.text().await.unwrap(), expected.to_string());
    // Neither rejected requests nor those with a key without a quota are counted.
    wait_until_counted(&service.database.store(), &key, 3).await;
    assert_eq!(remaining(&service.get("/v1/npa/415").await), ["", ""]);
    let counted = counted_requests(&service.database.store()).await;
    assert_eq!(counted.get(&KEY.parse::<ApiKey>().unwrap().hash()), None);
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
    let found = (key.note.as_deref(), key.per_minute, key.per_day);
    assert_eq!(found, (Some("until the trial ends"), Some(60), None));

    rotate(&store, &key.prefix, "1d".parse().unwrap()).await.unwrap();
    let keys = store.api_keys().await.unwrap();
    let (old, new): (Vec<_>, Vec<_>) = keys.iter().partition(|it| it.key_hash == key.key_hash);
    assert!(keys.iter().all(|record| record.is_live(Timestamp::now())), "both work");
    assert!(old[0].expires_at < key.expires_at);
    assert_eq!((new[0].expires_at, new[0].per_minute), (key.expires_at, Some(60)));
    assert_eq!((&new[0].note, new[0].quota_id()), (&key.note, key.quota_id()));
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
async fn a_body_counts_as_one_request_per_number_and_a_rejected_one_as_one() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(30), None).await;
    let (numbers, digits) = ("+442079460958\n", "12345 ".repeat(41));
    for (target, content_type, body, status, left) in [
        ("/v1/format", "text/plain", numbers.repeat(7), 200, "23"),
        ("/v1/format", "text/plain", numbers.repeat(24), 429, "22"),
        ("/v1/format", "text/plain", String::new(), 400, "21"),
        ("/v1/format", "application/xml", "<a/>".to_owned(), 415, "20"),
        ("/v1/format", "text/plain", "1\n".repeat(1001), 413, "19"),
        ("/v1/format?tn=1", "text/plain", "1\n2\n3".to_owned(), 400, "18"),
        ("/v1/find", "text/csv", "305 234 5678".to_owned(), 415, "17"),
        // A text counts as one request per number or 100 digits.
        ("/v1/find", "text/plain", "305 234 5678 or +44 20 7946 0958".to_owned(), 200, "15"),
        ("/v1/find", "text/plain", "no number".to_owned(), 200, "14"),
        ("/v1/find", "text/plain", digits, 200, "11"),
        ("/v1/format", "text/plain", numbers.repeat(11), 200, "0"),
        ("/v1/format", "text/plain", numbers.to_owned(), 429, "0"),
    ] {
        let request = service.request_with(Method::POST, target).bearer_auth(key.reveal());
        let request = request.header("content-type", content_type).body(body);
        let response = request.send().await.unwrap();
        assert_eq!((response.status().as_u16(), remaining(&response)), (status, [left, ""]));
    }
}
