//! Tests that responses are byte-identical through an HTTP API, `cargo lambda watch` and the local server, with or
//! without a stage or base path. Clients must not be able to forge what only the gateway knows.

use flags::VERSION;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};
use shared::routes::Routes;

use crate::support::{
    api_events::{HOST, http_api_event},
    function_calls::{FunctionResponse, response_to, with_iam_authorization},
    sample_requests::SampleRequest,
    service::{header, sample_app, shared_service},
};

/// Numbers as clients may write them in a path.
const NUMBERS: &str = include_str!("numbers_in_paths.txt");

async fn lambda_response(routes: Routes, event: &Value) -> FunctionResponse {
    response_to(routes, sample_app().await, event).await
}

/// An HTTP API event, where the path is decoded and the parameter includes slashes.
fn http_api_event_for(target: &str) -> Value {
    http_api_event(&SampleRequest::get(target))
}

/// A `cargo lambda watch` event: like an HTTP API event, but with the path as written.
fn watch_event(written: &str) -> Value {
    let path = format!("/v1/format/{written}");
    let mut event = http_api_event_for(&path);
    event["rawPath"] = json!(path);
    event["routeKey"] = json!("$default");
    event["requestContext"]["routeKey"] = json!("$default");
    event["pathParameters"] = json!({});
    event
}

#[tokio::test]
async fn every_gateway_returns_the_same_response_for_a_number() {
    let over_http = async |path: String| shared_service().get(&path).await.text().await.unwrap();
    for written in NUMBERS.lines() {
        let decoded = percent_decode_str(written).decode_utf8().unwrap();
        let encoded = utf8_percent_encode(&decoded, NON_ALPHANUMERIC).to_string();
        let path = format!("/v1/format/{written}");
        let query = format!("/v1/format?tn={encoded}");
        let expected = over_http(query.clone()).await;
        assert!(expected.starts_with("{\"valid\":"), "{written}: {expected}");
        assert_eq!(over_http(path.clone()).await, expected, "{written} in path");
        let from_encoded_path = over_http(format!("/v1/format/{encoded}")).await;
        assert_eq!(from_encoded_path, expected, "{written} in encoded path");
        for (source, event) in [
            ("HTTP API path", http_api_event_for(&path)),
            ("HTTP API query", http_api_event_for(&query)),
            ("watch path", watch_event(written)),
        ] {
            let response = lambda_response(format::routes(), &event).await;
            assert_eq!(response.body.to_string(), expected, "{written} in {source}");
        }
    }
}

/// An HTTP API event with this stage, for a URL with this prefix.
fn http_api_event_with(target: &str, stage: &str, prefix: &str) -> Value {
    let mut event = http_api_event_for(target);
    let path = format!("{prefix}{}", event["rawPath"].as_str().unwrap());
    event["rawPath"] = json!(path);
    event["requestContext"]["http"]["path"] = json!(path);
    event["requestContext"]["stage"] = json!(stage);
    event
}

/// HTTP API stages and URL prefixes: the default stage, named stages, and base paths on a custom domain, which
/// omit the stage.
const HTTP_API_STAGES: [(&str, &str); 6] = [
    ("$default", ""),
    ("prod", "/prod"),
    ("v1", "/v1"),
    ("prod", ""),
    ("$default", "/numbers"),
    ("prod", "/numbers/v1"),
];

#[tokio::test]
async fn paths_and_links_work_behind_a_stage_or_base_path() {
    let target = "/v1/carriers?limit=2&offset=2";
    let expected = shared_service().ok(target).await;
    let number = "/v1/format/305%2F234%2F5678%3F";
    let formatted = shared_service().ok(number).await.to_string();
    assert!(formatted.contains(&format!("\"https://{HOST}/flags/")), "{formatted}");
    for (stage, prefix) in HTTP_API_STAGES {
        let event = http_api_event_with(target, stage, prefix);
        let response = lambda_response(carriers::routes(), &event).await;
        assert_eq!((response.status, &response.body), (200, &expected), "{event}");
        let targets: Vec<&str> = header(&response.headers, "link").split(", ").collect();
        assert_eq!(targets.len(), 2, "{event}");
        for target in targets {
            assert!(target.starts_with(&format!("<{prefix}/v1/carriers?limit=2&")), "{target}");
        }

        let event = http_api_event_with(number, stage, prefix);
        let flags = [format!("{HOST}/flags/"), format!("{HOST}{prefix}/flags/")];
        let response = lambda_response(format::routes(), &event).await;
        assert_eq!(response.body.to_string(), formatted.replace(&flags[0], &flags[1]), "{event}");

        let event = http_api_event_with("/openapi.json", stage, prefix);
        let description = lambda_response(site::routes(), &event).await;
        let server = &description.body["servers"][0]["url"];
        assert_eq!(*server, format!("https://{HOST}{prefix}"), "{event}");

        // The root, where clients other than browsers get the index.
        for path in [prefix.to_owned(), format!("{prefix}/")] {
            let mut event = http_api_event_with("/", stage, prefix);
            event["rawPath"] = json!(path);
            let response = lambda_response(site::routes(), &event).await;
            assert_eq!(response.body["docs"], "/docs", "{event}");
        }

        let event = http_api_event_with("/v1/nowhere/a%20b", stage, prefix);
        let response = lambda_response(status::routes(), &event).await;
        assert_eq!(response.status, 404, "{event}");
        let message = response.body["message"].as_str().unwrap();
        // Without a route, the base path is unknown.
        if prefix.is_empty() || prefix == format!("/{stage}") {
            assert!(message.starts_with("Endpoint not found: /v1/nowhere/a"), "{message}");
        }
    }
}

/// An HTTP API event without a key.
fn event_without_key(target: &str) -> Value {
    let mut event = http_api_event_for(target);
    event["headers"].as_object_mut().unwrap().remove("authorization");
    event
}

#[tokio::test]
async fn clients_cannot_forge_iam_authorization() {
    let target = "/v1/npa/415";
    let iam_event = with_iam_authorization(event_without_key(target));
    let admitted = lambda_response(npa::routes(), &iam_event).await;
    assert_eq!((admitted.status, header(&admitted.headers, "x-ratelimit-limit")), (200, ""));
    let misspelled = with_iam_authorization(event_without_key("/v1/npa/415?limt=1"));
    assert_eq!(lambda_response(npa::routes(), &misspelled).await.status, 400);

    let iam = &iam_event["requestContext"]["authorizer"];
    for (location, forged) in [
        ("/headers", json!({ "x-amzn-request-context": iam.to_string(), "iam": iam.to_string() })),
        ("/queryStringParameters", json!({ "requestContext.authorizer.iam": iam.to_string() })),
        ("/rawQueryString", json!("requestContext.authorizer.iam=1")),
        ("/body", json!({ "requestContext": { "authorizer": iam } }).to_string().into()),
        ("/authorizer", iam.clone()),
        (
            "/requestContext/authorizer",
            json!({ "lambda": iam, "jwt": { "claims": { "iam": "1" } } }),
        ),
    ] {
        let mut event = event_without_key(target);
        let (parent, name) = location.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[name] = forged;
        let response = lambda_response(npa::routes(), &event).await;
        assert_eq!(response.status, 401, "{event}");
    }
    let context = json!({ "authorizer": iam }).to_string();
    let request = shared_service().request(&format!("{target}?iam=1"));
    let response = request.header("x-amzn-request-context", context).send().await.unwrap();
    assert_eq!(response.status(), 401);
}

#[tokio::test]
async fn addresses_are_the_event_domain_or_configured_and_no_client_header() {
    let mut event = http_api_event_for("/v1/format/+13052345678");
    event["requestContext"]["domainName"] = json!("numbers.example.com");
    for (name, value) in [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-prefix", "/evil"),
        ("x-original-url", "/evil"),
        ("forwarded", "host=evil.example;proto=http"),
        ("origin", "http://evil.example"),
    ] {
        event["headers"][name] = json!(value);
    }
    let flags_host = "https://cdn.example/flags/";
    let mut configured = sample_app().await;
    configured.config.flag_images = flags_host.parse().unwrap();
    for (app, address) in [
        (sample_app().await, format!("https://numbers.example.com/flags/{VERSION}")),
        (configured, "https://cdn.example/flags".to_owned()),
    ] {
        let response = response_to(format::routes(), app, &event).await;
        let link = &response.body["flags"]["country"]["svg"];
        assert_eq!(*link, format!("{address}/countries/US.svg"));
    }
}
