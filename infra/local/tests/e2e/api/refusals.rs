//! Refused requests. The sample requests show more for each endpoint.

use std::fmt::Write;

use reqwest::Method;
use serde_json::Value;

use crate::support::{
    endpoints::endpoints,
    keys::key_with_quotas,
    service::{KEY, fields, shared_service},
};

/// A request for each rule of each endpoint. Unit tests cover each rule's other cases.
const REFUSED: [&str; 18] = [
    "/v1/format?tn=305&column=a",
    "/v1/format/",
    "/v1/lookup/",
    "/v1",
    "/v1/",
    "/v2/health",
    "/v1/npa/415/nxy",
    "/V1/HEALTH",
    "/v1/carriers?limit=5&tpye=WIRELESS",
    "/v1/carriers?c%6Fntry=",
    "/v1/format/3052345678?defaultcountry=GB",
    "/v1/lookup?TN=4155551234",
    "/v1/search?q=a&rateCenter=Miami",
    "/v1/npa/415?ofset=50",
    "/v1/npa/416/nxx/234?npa=415",
    "/v1/carrier?page=2",
    "/v1/format?tn=1&page=2",
    "/v1/carriers?a_name_longer_than_the_forty_characters_that_a_message_repeats=secret",
];

#[tokio::test]
async fn each_refusal_names_the_rule_and_the_value() {
    let mut refusals = String::new();
    for target in REFUSED {
        let (status, body) = shared_service().answer(target).await;
        assert_eq!(fields(&body), ["error", "message"], "{target}");
        let [error, message] = ["error", "message"].map(|name| body[name].as_str().unwrap());
        writeln!(refusals, "{target}\n  {} {error}: {message}", status.as_u16()).unwrap();
    }
    // Kept apart from the sample request snapshots, which are part of the program.
    insta::with_settings!({ snapshot_path => "tables" }, { insta::assert_snapshot!(refusals) });
}

#[tokio::test]
async fn only_protected_endpoints_refuse_unknown_parameters() {
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

/// Others store and log `Link` and messages, so neither may echo a key sent under a mistyped parameter.
#[tokio::test]
async fn keys_under_mistyped_names_are_never_echoed() {
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
async fn wrong_methods_get_a_405_without_a_key_and_without_counting() {
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
