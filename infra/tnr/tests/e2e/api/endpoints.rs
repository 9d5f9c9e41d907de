//! Tests keys and entity tags at every endpoint.

use reqwest::StatusCode;
use serde_json::Value;

use crate::support::{
    endpoints::endpoints,
    service::{KEY, header, shared_service},
};

#[tokio::test]
async fn only_protected_endpoints_require_a_key() {
    let service = shared_service();
    for endpoint in endpoints() {
        let example = endpoint.example();
        let response = service.request_like(&example, example.path()).send().await.unwrap();
        if !endpoint.needs_key() {
            assert_eq!(response.status(), StatusCode::OK, "{endpoint:?}");
            continue;
        }
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{endpoint:?}");
        let challenge = "Bearer realm=\"Telephone Number Reference Service\"";
        assert_eq!(response.headers()["www-authenticate"], challenge, "{endpoint:?}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "unauthorized");
        assert!(body["message"].as_str().unwrap().starts_with("API key required"), "{body}");
    }
}

#[tokio::test]
async fn every_endpoint_returns_304_if_the_etag_matches() {
    let service = shared_service();
    let examples = endpoints().into_iter().map(|endpoint| endpoint.example());
    for example in examples.filter(|example| example.method == "GET") {
        let target = &example.target;
        let request = || service.request_like(&example, target).bearer_auth(KEY);
        let first = request().send().await.unwrap();
        let tag = header(first.headers(), "etag").to_owned();
        assert!(tag.starts_with("W/\"") && tag.len() == 36, "{target}: {tag}");
        let response = request().header("if-none-match", &tag).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{target}");
        for name in ["etag", "vary", "cache-control", "link", "x-data-version"] {
            let [found, expected] = [&response, &first].map(|it| header(it.headers(), name));
            assert_eq!(found, expected, "{target}: {name}");
        }
        // A 304 needs no length, which would have to match the 200 response.
        for name in ["content-type", "content-length", "content-encoding"] {
            assert_eq!(header(response.headers(), name), "", "{target}: {name}");
        }
        assert!(response.bytes().await.unwrap().is_empty(), "{target}");
    }
}
