//! Errors as `application/problem+json` (RFC 9457), for clients that ask for it.

use reqwest::Response;
use serde_json::{Value, json};

use crate::support::{
    keys::key_with_quotas,
    service::{KEY, Service, fields, http_client, shared_service},
};

const PROBLEM: &str = "application/problem+json";

async fn accepting(path: &str, key: &str, accepted: &str) -> Response {
    let request = shared_service().request(path).header("accept", accepted);
    request.bearer_auth(key).send().await.unwrap()
}

#[tokio::test]
async fn an_error_is_a_problem_for_a_client_that_asks_for_one() {
    let cases = [
        (400, "Bad Request", "/v1/npa/41", KEY),
        (400, "Bad Request", "/v1/format/1?defaultCountry=XX", KEY),
        (400, "Bad Request", "/v1/carriers?contry=CA", KEY),
        (401, "Unauthorized", "/v1/carriers", "wrong"),
        (404, "Not Found", "/v1/carrier/ZZZZ", KEY),
        (404, "Not Found", "/v1/nowhere", KEY),
    ];
    for (status, title, path, key) in cases {
        let usual = accepting(path, key, "*/*").await;
        assert_eq!(usual.headers()["content-type"], "application/json", "{path}");
        let usual: Value = usual.json().await.unwrap();
        assert_eq!(fields(&usual), ["error", "message"], "{path}");

        let problem = accepting(path, key, "application/problem+json, application/json").await;
        assert_eq!(problem.status(), status, "{path}");
        assert_eq!(problem.headers()["content-type"], PROBLEM, "{path}");
        assert_eq!(problem.headers()["cache-control"], "no-store", "{path}");
        assert_eq!(problem.headers().contains_key("www-authenticate"), status == 401, "{path}");
        let problem: Value = problem.json().await.unwrap();
        let expected = json!({
            "type": "about:blank", "title": title, "status": status,
            "detail": usual["message"], "error": usual["error"],
        });
        assert_eq!(problem, expected, "{path}");
        assert_eq!(fields(&problem), fields(&expected), "{path}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_a_problem_too() {
    let url = format!("{}/health", shared_service().base_url);
    let response = http_client().post(url).header("accept", PROBLEM).send().await.unwrap();
    let problem: Value = response.json().await.unwrap();
    assert_eq!(
        (&problem["title"], &problem["status"]),
        (&json!("Method Not Allowed"), &json!(405))
    );
}

#[tokio::test]
async fn the_problem_of_an_exhausted_quota_has_its_details() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), Some(1), None).await;
    let ask = || async {
        let request = service.request("/v1/npa/415").bearer_auth(key.reveal());
        request.header("accept", PROBLEM).send().await.unwrap()
    };
    ask().await;
    let response = ask().await;
    assert_eq!(response.headers()["x-ratelimit-minute-remaining"], "0");
    assert!(response.headers().contains_key("retry-after"));
    let problem: Value = response.json().await.unwrap();
    assert_eq!(
        (&problem["title"], &problem["error"]),
        (&json!("Too Many Requests"), &json!("rate_limited"))
    );
    assert_eq!(fields(&problem["details"]), ["limit_type", "limit", "remaining", "reset"]);
}

#[tokio::test]
async fn a_success_is_the_same_whatever_the_client_accepts() {
    let plain = accepting("/v1/npa/415", KEY, "*/*").await.bytes().await.unwrap();
    let response = accepting("/v1/npa/415", KEY, PROBLEM).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.bytes().await.unwrap(), plain);
}
