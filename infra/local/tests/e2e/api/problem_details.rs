//! Errors as `application/problem+json` (RFC 9457), for clients that ask for it.

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::{
    keys::key_with_quotas,
    service::{KEY, fields, shared_service},
};

const PROBLEM: &str = "application/problem+json";

async fn send_accepting(method: Method, path: &str, key: &str, accepted: &str) -> Response {
    let request = shared_service().request_with(method, path).header("accept", accepted);
    request.bearer_auth(key).send().await.unwrap()
}

#[tokio::test]
async fn errors_are_problem_details_on_request() {
    for (status, title, method, path, key) in [
        (400, "Bad Request", Method::GET, "/v1/npa/41", KEY),
        (401, "Unauthorized", Method::GET, "/v1/carriers", "wrong"),
        (404, "Not Found", Method::GET, "/v1/carrier/ZZZZ", KEY),
        (405, "Method Not Allowed", Method::POST, "/health", KEY),
    ] {
        let default_error = send_accepting(method.clone(), path, key, "*/*").await;
        assert_eq!(default_error.headers()["content-type"], "application/json", "{path}");
        let default_error: Value = default_error.json().await.unwrap();
        let problem =
            send_accepting(method, path, key, "application/problem+json, application/json").await;
        assert_eq!(problem.status(), status, "{path}");
        assert_eq!(problem.headers()["content-type"], PROBLEM, "{path}");
        assert_eq!(problem.headers()["cache-control"], "no-store", "{path}");
        assert_eq!(problem.headers().contains_key("www-authenticate"), status == 401, "{path}");
        let expected = json!({
            "type": "about:blank", "title": title, "status": status,
            "detail": default_error["message"], "error": default_error["error"],
        });
        assert_eq!(problem.text().await.unwrap(), expected.to_string(), "{path}");
    }
}

#[tokio::test]
async fn exhausted_quotas_return_problem_details() {
    let key = key_with_quotas(&shared_service().database.store(), Some(1), None).await;
    let send = || send_accepting(Method::GET, "/v1/npa/415", key.reveal(), PROBLEM);
    let success = send().await;
    assert_eq!(success.headers()["content-type"], "application/json");
    let response = send().await;
    assert_eq!(response.headers()["x-ratelimit-minute-remaining"], "0");
    assert!(response.headers().contains_key("retry-after"));
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["title"], "Too Many Requests");
    assert_eq!(problem["error"], "rate_limited");
    assert_eq!(fields(&problem["details"]), ["limit_type", "limit", "remaining", "reset"]);
}
