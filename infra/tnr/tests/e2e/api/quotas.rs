//! Quotas: response headers, counts shared by all containers, and keys without a quota. A batch counts as one request
//! per number.

use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use reqwest::{Method, Response, StatusCode};
use serde_json::json;
use shared::auth::ApiKey;

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    keys::{counted_requests, key_with_quotas},
    processes::wait_until,
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

#[tokio::test]
async fn exhausted_quotas_return_429_with_a_retry_time() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(3), Some(1000)).await;
    for left in ["2", "1", "0"] {
        let response = get(service, &key).await;
        assert_eq!((response.status(), remaining(&response)[0]), (StatusCode::OK, left));
    }
    let response = get(service, &key).await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(remaining(&response), ["0", "997"]);
    let number = |name| header(response.headers(), name).parse::<i64>().unwrap();
    let (reset, wait) = (number("x-ratelimit-minute-reset"), number("retry-after"));
    assert!((30..=60).contains(&wait) && reset % 5 == 0, "{wait} {reset}");
    let at = Timestamp::from_second(reset).unwrap();
    let expected = json!({
        "error": "rate_limited",
        "message": format!("Quota of 3 requests per minute exceeded; retry after {at}"),
        "details": { "limit_type": "minute", "limit": 3, "remaining": 0, "reset": reset },
    });
    assert_eq!(response.text().await.unwrap(), expected.to_string());
    // Neither rejected requests nor those with a key without a quota are counted.
    assert_eq!(remaining(&service.get("/v1/npa/415").await), ["", ""]);
    let counted = async || counted_requests(&service.database.store()).await;
    wait_until(async || counted().await.get(&key.hash()) == Some(&3)).await;
    assert_eq!(counted().await.get(&KEY.parse::<ApiKey>().unwrap().hash()), None);
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

/// The bound that `docs/OPERATIONS.md` promises while the table fails.
#[tokio::test]
async fn containers_without_the_usage_table_each_admit_exactly_the_quota() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), Some(6), None).await;
    let endpoint = service.database.endpoint();
    let proxy = FaultProxy::for_operation(endpoint, "UpdateItem", Fault::NON_RETRYABLE).await;
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
