//! Rejected requests. The sample requests cover more of them for each endpoint.

use reqwest::Method;
use serde_json::Value;

use crate::support::{
    endpoints::endpoints,
    keys::key_with_quotas,
    service::{KEY, shared_service},
};

#[tokio::test]
async fn only_protected_endpoints_reject_unknown_parameters() {
    let service = shared_service();
    for endpoint in endpoints() {
        let mut example = endpoint.example();
        let separator = if example.target.contains('?') { '&' } else { '?' };
        let target = format!("{}{separator}unheard_of=1", example.target);
        let expected = if endpoint.needs_key() { 400 } else { 200 };
        let methods = if example.method == "GET" { &["GET", "HEAD"][..] } else { &["POST"] };
        for method in methods {
            example.method = (*method).to_owned();
            let request = service.request_like(&example, &target).bearer_auth(KEY);
            let status = request.send().await.unwrap().status();
            assert_eq!(status, expected, "{method} {endpoint:?}");
        }
    }
}

/// Clients and proxies may store or log `Link` and messages, so neither may echo a key sent in a mistyped parameter.
#[tokio::test]
async fn keys_in_mistyped_parameters_are_never_echoed() {
    let service = shared_service();
    for name in ["apikey", "APIKEY", "api_key", "apiKey%20"] {
        let path = format!("/v1/carriers?limit=1&{name}={KEY}");
        // The key is checked before the parameters.
        for (request, status) in
            [(service.request(&path).bearer_auth(KEY), 400), (service.request(&path), 401)]
        {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{name}");
            assert!(!format!("{:?}", response.headers()).contains(KEY), "{name}");
            assert!(!response.text().await.unwrap().contains(KEY), "{name}");
        }
    }
}

#[tokio::test]
async fn unknown_paths_get_a_404_without_a_key() {
    let service = shared_service();
    for (path, status) in [
        ("/v1/npa/415/", 404),
        ("/v1/npa/415/nxy/", 404),
        ("/v1/carrier//", 404),
        ("/v1/nowhere/", 404),
        ("/v1/carrier/", 401),
    ] {
        assert_eq!(service.request(path).send().await.unwrap().status(), status, "{path}");
    }
}

#[tokio::test]
async fn unsupported_methods_get_a_405_without_a_key_and_are_not_counted() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(2), None).await;
    for (method, path, allowed, message) in [
        (
            Method::POST,
            "/v1/carriers",
            "GET, HEAD, OPTIONS",
            "POST is not allowed on /v1/carriers; use GET",
        ),
        (
            Method::DELETE,
            "/v1/format",
            "GET, HEAD, POST, OPTIONS",
            "DELETE is not allowed on /v1/format; use GET or POST",
        ),
    ] {
        let request = || service.request_with(method.clone(), path);
        for request in [request(), request().bearer_auth(key.reveal())] {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 405);
            assert_eq!(response.headers()["allow"], allowed);
            assert!(!response.headers().contains_key("x-ratelimit-minute-remaining"));
            let body: Value = response.json().await.unwrap();
            assert_eq!(body["message"], message);
        }
    }
    let counted = service.request("/v1/carriers").bearer_auth(key.reveal()).send().await.unwrap();
    assert_eq!(counted.headers()["x-ratelimit-minute-remaining"], "1");
}
