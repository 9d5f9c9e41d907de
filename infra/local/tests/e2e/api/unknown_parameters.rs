//! Query parameters that an endpoint does not know.

use serde_json::Value;

use crate::support::{
    endpoints::endpoints,
    service::{KEY, shared_service},
};

#[tokio::test]
async fn an_unknown_parameter_is_refused_with_the_nearest_known_one() {
    let service = shared_service();
    for (path, unknown, nearest) in [
        ("/v1/carriers?contry=CA", "contry", "country"),
        ("/v1/carriers?limit=5&tpye=WIRELESS", "tpye", "type"),
        ("/v1/format/3052345678?defaultcountry=GB", "defaultcountry", "defaultCountry"),
        ("/v1/lookup?TN=4155551234", "TN", "tn"),
        ("/v1/search?q=a&rateCenter=Miami", "rateCenter", "rate_center"),
        ("/v1/npa/415?ofset=50", "ofset", "offset"),
        ("/v1/carriers?c%6Fntry=", "contry", "country"),
    ] {
        let message =
            format!("Unknown parameter '{unknown}'; the nearest known one is '{nearest}'");
        service.assert_error(path, 400, "invalid_request", &message).await;
    }
}

#[tokio::test]
async fn without_a_near_one_the_known_ones_are_listed() {
    let service = shared_service();
    for (path, unknown, known) in [
        ("/v1/carrier/6010?ocn=9417", "ocn", "apiKey"),
        ("/v1/npa/416/nxx/234?npa=415", "npa", "limit, offset, format, apiKey"),
        (
            "/v1/format?tn=1&page=2",
            "page",
            "tn, defaultCountry, cache, include, fields, flags, apiKey",
        ),
    ] {
        let message = format!("Unknown parameter '{unknown}'; this endpoint knows {known}");
        service.assert_error(path, 400, "invalid_request", &message).await;
    }
}

#[tokio::test]
async fn every_protected_endpoint_refuses_and_no_public_one_does() {
    let service = shared_service();
    for endpoint in endpoints() {
        let example = endpoint.example();
        let separator = if example.target.contains('?') { '&' } else { '?' };
        let target = format!("{}{separator}unheard_of=1", example.target);
        let response =
            service.request_like(&example, &target).bearer_auth(KEY).send().await.unwrap();
        let expected = if endpoint.needs_key() { 400 } else { 200 };
        assert_eq!(response.status(), expected, "{endpoint:?}");
    }
}

#[tokio::test]
async fn only_the_beginning_of_a_long_name_is_quoted_and_never_a_value() {
    let name = "n".repeat(10_000);
    let path = format!("/v1/carriers?{name}=secret");
    let body: Value = shared_service().get(&path).await.json().await.unwrap();
    let message = body["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("Unknown parameter '{}…'", &name[..40])), "{message}");
    assert!(!message.contains("secret"), "{message}");
}

/// `Link` and messages are stored and logged by others, so they must not repeat a key that was sent
/// under a name like that of the parameter.
#[tokio::test]
async fn a_key_under_a_mistyped_name_never_comes_back() {
    let service = shared_service();
    for name in ["apikey", "APIKEY", "api_key", "apiKey%20"] {
        let path = format!("/v1/carriers?limit=1&{name}={KEY}");
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
async fn a_key_is_asked_for_before_parameters_are_looked_at() {
    let response = shared_service().request("/v1/carriers?contry=CA").send().await.unwrap();
    assert_eq!(response.status(), 401);
}
