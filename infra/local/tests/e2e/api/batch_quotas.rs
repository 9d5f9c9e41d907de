//! Many numbers in one request count as as many requests.

use futures_util::future::join_all;
use reqwest::{Response, StatusCode};
use serde_json::Value;
use shared::auth::ApiKey;

use crate::support::{keys::key_with_quotas, service::Service};

async fn send(service: &Service, key: &ApiKey, numbers: usize) -> Response {
    let url = format!("{}/v1/format", service.base_url);
    let request = crate::support::service::http_client().post(url).bearer_auth(key.reveal());
    let body = "+442079460958\n".repeat(numbers);
    request.header("content-type", "text/plain").body(body).send().await.unwrap()
}

fn remaining(response: &Response) -> (Option<&str>, Option<&str>) {
    let header = |name| response.headers().get(name).map(|value| value.to_str().unwrap());
    (header("x-ratelimit-minute-remaining"), header("x-ratelimit-remaining"))
}

#[tokio::test]
async fn a_request_that_does_not_fit_is_refused_whole_and_counts_for_nothing() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), Some(10), Some(100)).await;
    let response = send(&service, &key, 7).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(remaining(&response), (Some("3"), Some("93")));

    let refused = send(&service, &key, 4).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(remaining(&refused), (Some("3"), Some("93")));
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((50..=60).contains(&wait), "{wait}");
    let body: Value = refused.json().await.unwrap();
    let details = &body["details"];
    assert_eq!((&details["limit_type"], &details["remaining"]), (&"minute".into(), &3.into()));
    let message = body["message"].as_str().unwrap();
    assert!(
        message.starts_with(
            "Quota of 10 requests per minute has 3 left, and this one counts as 4; send at most 3 \
             numbers now, or retry after "
        ),
        "{message}"
    );

    let never = send(&service, &key, 11).await;
    assert_eq!(never.status(), StatusCode::TOO_MANY_REQUESTS);
    // A client that obeyed it would loop.
    assert_eq!(never.headers().get("retry-after"), None);
    let body: Value = never.json().await.unwrap();
    assert_eq!(
        body["message"],
        "Quota of 10 requests per minute has 3 left, and this one counts as 11; send at most 3 \
         numbers now"
    );
    assert_eq!(remaining(&send(&service, &key, 3).await), (Some("0"), Some("90")));
    assert_eq!(send(&service, &key, 1).await.status(), StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_body_that_is_refused_counts_as_one_request() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), Some(10), None).await;
    let url = format!("{}/v1/format", service.base_url);
    for (target, content_type, body, left) in [
        (url.clone(), "text/plain", String::new(), "9"),
        (url.clone(), "application/xml", "<a/>".to_owned(), "8"),
        (url.clone(), "text/plain", "1\n".repeat(1001), "7"),
        (format!("{url}?tn=1"), "text/plain", "1\n2\n3".to_owned(), "6"),
    ] {
        let request = crate::support::service::http_client().post(target).bearer_auth(key.reveal());
        let request = request.header("content-type", content_type).body(body);
        let response = request.send().await.unwrap();
        assert!(response.status().is_client_error());
        assert_eq!(remaining(&response), (Some(left), None));
    }
    assert_eq!(remaining(&send(&service, &key, 6).await), (Some("0"), None));
}

#[tokio::test]
async fn requests_at_the_same_time_never_get_more_than_the_quota() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), Some(100), None).await;
    let sizes = (1..=30).map(|number| 1 + number * 7 % 23);
    let answers = join_all(sizes.map(async |numbers| {
        let response = send(&service, &key, numbers).await;
        if response.status() == StatusCode::OK { numbers } else { 0 }
    }));
    let admitted: usize = answers.await.into_iter().sum();
    assert!((78..=100).contains(&admitted), "{admitted}");
}

/// A container that has heard of no other asks before it admits many numbers.
#[tokio::test]
async fn a_container_that_starts_knows_what_others_have_counted_before_it_admits_many() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, Some(500), Some(500)).await;
    assert_eq!(send(&service, &key, 400).await.status(), StatusCode::OK);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while crate::support::keys::counted_requests(&store).await.get(&key.hash()) != Some(&400) {
        assert!(std::time::Instant::now() < deadline);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let other = service.restarted().await;
    assert_eq!(send(&other, &key, 101).await.status(), StatusCode::TOO_MANY_REQUESTS);
    let fits = send(&other, &key, 100).await;
    assert_eq!((fits.status(), remaining(&fits)), (StatusCode::OK, (Some("0"), Some("0"))));
}
