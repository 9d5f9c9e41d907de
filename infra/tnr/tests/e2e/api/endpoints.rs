//! Tests keys at every endpoint.

use reqwest::StatusCode;
use serde_json::Value;

use crate::support::{endpoints::endpoints, service::shared_service};

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
