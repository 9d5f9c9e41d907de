//! A named stage and the base path of a custom domain, which stand before the paths of the API, as
//! HTTP APIs and REST APIs tell them to a function.

use axum::body::to_bytes;
use lambda_http::Service as _;
use serde_json::{Value, json};
use shared::{
    app::{Routes, lambda},
    state::App,
};

use crate::support::{
    api_events::{HOST, http_api_event},
    sample_requests::SampleRequest,
    service::{KEY, shared_service},
};

/// What a function answers.
struct Answer {
    status: u16,
    link: String,
    body: Value,
}

async fn answer_of(routes: Routes, event: &Value) -> Answer {
    let app = App::on(shared_service().database.serving_store().await);
    let request = lambda_http::request::from_str(&event.to_string()).unwrap();
    let response = lambda(routes, app).call(request).await.unwrap();
    let header = response.headers().get("link");
    let link = header.map_or("", |value| value.to_str().unwrap()).to_owned();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    Answer { status, link, body: serde_json::from_slice(&body).unwrap() }
}

/// The event of an HTTP API with this stage, for a URL that has this prefix.
fn http_api_event_with(target: &str, stage: &str, prefix: &str) -> Value {
    let mut event = http_api_event(&SampleRequest::get(target));
    let path = format!("{prefix}{}", event["rawPath"].as_str().unwrap());
    event["rawPath"] = json!(path);
    event["requestContext"]["http"]["path"] = json!(path);
    event["requestContext"]["stage"] = json!(stage);
    event
}

/// The event of a REST API: the path has no stage unless it is a part of the base path.
fn rest_api_event(route: &str, target: &str, base_path: &str, prefix: &str) -> Value {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parameters: Value = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    json!({
        "resource": route, "path": format!("{base_path}{path}"), "httpMethod": "GET",
        "headers": { "Authorization": format!("Bearer {KEY}"), "Host": "api.example.com" },
        "multiValueHeaders": {}, "queryStringParameters": parameters,
        "multiValueQueryStringParameters": null, "pathParameters": null,
        "stageVariables": null, "body": null, "isBase64Encoded": false,
        "requestContext": {
            "resourcePath": route, "httpMethod": "GET", "path": format!("{prefix}{path}"),
            "stage": "prod", "protocol": "HTTP/1.1", "identity": {}, "requestTimeEpoch": 0,
            "domainName": HOST, "apiId": "a", "accountId": "1", "resourceId": "r", "requestId": "i"
        }
    })
}

/// Stages and prefixes of an HTTP API: the default stage, named ones, and base paths of a custom
/// domain, from which the stage is absent.
const OF_HTTP_APIS: [(&str, &str); 6] = [
    ("$default", ""),
    ("prod", "/prod"),
    ("v1", "/v1"),
    ("prod", ""),
    ("$default", "/numbers"),
    ("prod", "/numbers/v1"),
];

#[tokio::test]
async fn a_path_is_found_behind_a_stage_or_base_path_and_links_have_it_too() {
    let target = "/v1/carriers?limit=2&offset=2";
    let expected = shared_service().ok(target).await;
    let http_apis =
        OF_HTTP_APIS.map(|(stage, prefix)| (prefix, http_api_event_with(target, stage, prefix)));
    let rest_apis =
        [("", "/prod"), ("/numbers", "/numbers"), ("/v1", "/v1")].map(|(base_path, prefix)| {
            (prefix, rest_api_event("/v1/carriers", target, base_path, prefix))
        });
    for (prefix, event) in http_apis.into_iter().chain(rest_apis) {
        let answer = answer_of(carriers::routes(), &event).await;
        assert_eq!((answer.status, &answer.body), (200, &expected), "{event}");
        let targets: Vec<&str> = answer.link.split(", ").collect();
        assert_eq!(targets.len(), 2, "{event}");
        for target in targets {
            assert!(target.starts_with(&format!("<{prefix}/v1/carriers?limit=2&")), "{target}");
        }
    }
}

#[tokio::test]
async fn a_number_is_whole_behind_a_stage_or_base_path_and_its_flags_are_below_that() {
    let target = "/v1/format/305%2F234%2F5678%3F";
    let answer = shared_service().ok(target).await.to_string();
    let expected = |prefix: &str| -> Value {
        let behind = answer.replace(&format!("{HOST}/flags/"), &format!("{HOST}{prefix}/flags/"));
        serde_json::from_str(&behind).unwrap()
    };
    assert!(answer.contains(&format!("\"https://{HOST}/flags/")), "{answer}");
    for (stage, prefix) in OF_HTTP_APIS {
        let event = http_api_event_with(target, stage, prefix);
        let answer = answer_of(format::routes(), &event).await;
        assert_eq!((answer.status, answer.body), (200, expected(prefix)), "{event}");
    }
    let event = rest_api_event("/v1/format/{tn+}", target, "/numbers", "/numbers");
    assert_eq!(answer_of(format::routes(), &event).await.body, expected("/numbers"));
}

#[tokio::test]
async fn an_unknown_path_is_named_without_the_stage() {
    for (stage, prefix) in [("$default", ""), ("prod", "/prod"), ("prod", "")] {
        let event = http_api_event_with("/v1/nowhere/a%20b", stage, prefix);
        let answer = answer_of(status::routes(), &event).await;
        assert_eq!(answer.status, 404, "{event}");
        let message = answer.body["message"].as_str().unwrap();
        assert!(message.starts_with("Endpoint not found: /v1/nowhere/a"), "{message}");
    }
}

#[tokio::test]
async fn the_root_is_found_behind_a_stage_or_base_path() {
    let http_apis = OF_HTTP_APIS.into_iter().flat_map(|(stage, prefix)| {
        let mut without_slash = http_api_event_with("/", stage, prefix);
        without_slash["rawPath"] = json!(prefix);
        [http_api_event_with("/", stage, prefix), without_slash]
    });
    let rest_apis = [("", "/prod"), ("/numbers", "/numbers")]
        .map(|(base_path, prefix)| rest_api_event("/", "/", base_path, prefix));
    for event in http_apis.chain(rest_apis) {
        // A client that is not a browser gets the index.
        let answer = answer_of(site::routes(), &event).await;
        assert_eq!(answer.body["docs"], "/docs", "{event}");
    }
}

/// API Gateway takes `/v1/carrier/` for its route `/v1/carrier`; `cargo lambda` has no routes.
#[tokio::test]
async fn a_slash_at_the_end_reaches_the_route_before_it() {
    let message = "ocn is required. Usage: /v1/carrier?ocn=<OCN>";
    for (route_key, prefix) in
        [("ANY /v1/carrier", ""), ("ANY /v1/carrier", "/prod"), ("$default", "")]
    {
        let mut event = http_api_event_with("/v1/carrier/", "$default", prefix);
        event["routeKey"] = json!(route_key);
        event["requestContext"]["routeKey"] = json!(route_key);
        event["pathParameters"] = json!({});
        let answer = answer_of(carriers::routes(), &event).await;
        assert_eq!((answer.status, &answer.body["message"]), (400, &json!(message)), "{event}");
    }
}
