//! CORS: requests from pages in a browser, and preflights.

use std::collections::BTreeSet;

use axum::http::HeaderMap;
use reqwest::{Method, Response};

use crate::support::{
    api_events::http_api_event,
    endpoints::endpoints,
    function_calls::response_to,
    keys::key_with_quotas,
    sample_requests::SampleRequest,
    service::{sample_app, shared_service},
};

const ORIGIN: &str = "https://page.example";

async fn send(method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
    let request = shared_service().request_with(method, path);
    let with_header = |request: reqwest::RequestBuilder, (name, value): &(&str, &str)| {
        request.header(*name, *value)
    };
    headers.iter().fold(request, with_header).send().await.unwrap()
}

fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

fn path_of(target: &str) -> &str {
    target.split('?').next().unwrap()
}

/// The names listed in a header, in lowercase.
fn names(headers: &HeaderMap, name: &str) -> BTreeSet<String> {
    let listed = value(headers, name).unwrap_or_default().split(',');
    listed.map(|name| name.trim().to_lowercase()).collect()
}

#[tokio::test]
async fn preflights_need_no_key_and_allow_every_api_request() {
    let preflight = [
        ("origin", ORIGIN),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "authorization,x-api-key"),
    ];
    let examples = endpoints().into_iter().map(|endpoint| endpoint.example());
    let others = ["/v1/nowhere", "/v1/carrier/"].map(SampleRequest::get);
    for SampleRequest { target, method, .. } in examples.chain(others) {
        let response = send(Method::OPTIONS, &target, &preflight).await;
        assert_eq!(response.status(), 204, "{target}");
        let headers = response.headers();
        assert_eq!(value(headers, "access-control-allow-origin"), Some("*"), "{target}");
        assert_eq!(value(headers, "access-control-allow-credentials"), None, "{target}");
        assert_eq!(value(headers, "access-control-max-age"), Some("86400"), "{target}");
        let methods = names(headers, "access-control-allow-methods");
        assert!(methods.contains(&method.to_lowercase()), "{target}: {methods:?}");
        let allowed = names(headers, "access-control-allow-headers");
        for name in ["authorization", "x-api-key", "if-none-match", "x-request-id", "accept"] {
            assert!(allowed.contains(name), "{target}: {name}");
        }
        // Unknown paths allow it too, so that a page can read the 404.
        let takes_body = methods.contains("post");
        assert_eq!(allowed.contains("content-type"), takes_body, "{target}");
        assert_eq!(
            takes_body,
            ["/v1/format", "/v1/find", "/mcp", "/v1/nowhere"].contains(&path_of(&target))
        );
        assert!(response.headers().contains_key("x-request-id"), "{target}");
        let without_origin = send(Method::OPTIONS, &target, &[]).await;
        let allow = match path_of(&target) {
            "/v1/format" => Some("GET, HEAD, POST, OPTIONS"),
            "/v1/find" | "/mcp" => Some("POST, OPTIONS"),
            "/v1/nowhere" => None,
            _ => Some("GET, HEAD, OPTIONS"),
        };
        assert_eq!(value(without_origin.headers(), "allow"), allow, "{target}");
        let status = if allow.is_some() { 204 } else { 404 };
        assert_eq!(without_origin.status(), status, "{target}");
    }
}

#[tokio::test]
async fn pages_can_read_every_response_and_all_its_headers() {
    let service = shared_service();
    let key = key_with_quotas(&service.database.store(), Some(4), Some(1)).await;
    let bearer = format!("Bearer {}", key.reveal());
    let mut statuses = BTreeSet::new();
    for (method, path, authorization) in [
        (Method::GET, "/v1/npa/415?limit=1&offset=1", bearer.as_str()),
        (Method::GET, "/v1/npa/415", bearer.as_str()),
        (Method::GET, "/v1/npa/415", "Bearer wrong"),
        (Method::GET, "/v1/nowhere", ""),
        (Method::GET, "/v1/health", ""),
        (Method::POST, "/v1/health", ""),
    ] {
        let response =
            send(method, path, &[("origin", ORIGIN), ("authorization", authorization)]).await;
        statuses.insert(response.status().as_u16());
        let headers = response.headers();
        assert_eq!(value(headers, "access-control-allow-origin"), Some("*"), "{path}");
        // The wildcard covers every header, since credentials are not allowed.
        assert_eq!(value(headers, "access-control-expose-headers"), Some("*"), "{path}");
        assert_eq!(value(headers, "access-control-allow-credentials"), None, "{path}");
    }
    assert_eq!(statuses, BTreeSet::from([200, 401, 404, 405, 429]));
}

#[tokio::test]
async fn configured_origins_exclude_all_others() {
    let mut app = sample_app().await;
    app.config.allowed_origins = "https://a.example, https://b.example".parse().unwrap();
    for (origin, allowed) in [
        (Some("https://b.example"), Some("https://b.example")),
        (Some("https://c.example"), None),
        (None, None),
    ] {
        for method in ["GET", "OPTIONS"] {
            let mut event = http_api_event(&SampleRequest::new("health", method, "/health"));
            if let Some(origin) = origin {
                event["headers"]["origin"] = origin.into();
            }
            let headers = response_to(status::routes(), app.clone(), &event).await.headers;
            assert_eq!(value(&headers, "access-control-allow-origin"), allowed, "{method}");
            assert!(names(&headers, "vary").contains("origin"), "{method}");
        }
    }
}
